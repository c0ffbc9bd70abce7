/** Properties of every drawing, for all that may happen in the runs and to the file. */
import { assert, describe, it } from "@effect/vitest"
import { Page, Recording, Scene, Svg } from "@kintsugi/view"
import { Effect } from "effect"
import fc from "fast-check"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"
import { type Box, boxesOf, dotsOf, gutter, margin, sheet, whole } from "../../../packages/view/src/drawing/Layout.ts"
import { isTerminal, type Recorded, types as eventTypes } from "../../../packages/view/src/recording/Recorded.ts"
import * as Totals from "../../../packages/view/src/recording/Totals.ts"
import { endOf, startOf } from "../../../packages/view/src/scene/Shapes.ts"
import { runs } from "../../_support/cases.ts"
import { type Damage, damage, damaged, drawnRuns, isComplete } from "./_support/drawn.ts"
import { long, references, written } from "../_support/references.ts"

/** Checks something of the drawings of drawn runs, damaged or not. */
const property = (
  title: string,
  check: (scene: Scene.Scene, recording: Recording.Recording, isWhole: boolean) => void
) =>
  it.effect(
    title,
    () =>
      Effect.map(drawnRuns, (recordings) =>
        fc.assert(
          fc.property(fc.constantFrom(...recordings), damage, (events, how) => {
            const recording = damaged(events, how)
            check(Scene.make(recording), recording, isComplete(how))
          }),
          // each as it is, then as many as a law draws
          {
            numRuns: recordings.length + runs,
            examples: recordings.map((events) => [events, { kind: "none" }] as [typeof events, Damage])
          }
        )
      ),
    120_000
  )

const noon = Date.UTC(2026, 3, 2, 12)

/** The milliseconds that a label of the scale tells. */
const millisOf = (label: string): number => {
  const sizes: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 }
  const words = label.split(" ")
  let sum = 0
  for (let at = 0; at + 1 < words.length; at += 2) sum += Number(words[at]) * (sizes[words[at + 1] ?? ""] ?? NaN)
  return Math.round(sum)
}

const spansOf = (scene: Scene.Scene) => scene.items.filter((item) => item.shape === "span")

describe("a scene", () => {
  it.effect("is drawn of runs in which every type of event happens [P1200]", () =>
    Effect.map(drawnRuns, (recordings) => {
      const types = new Set(recordings.flatMap((events) => events.map(({ type }) => type)))
      assert.deepStrictEqual([...eventTypes].toSorted(), [...types].toSorted())
    })
  )

  property("has each event once [P1200]", (scene, { events }) => {
    const seen = events.map(() => 0)
    for (const item of scene.items)
      for (const event of item.events) {
        seen[event] = (seen[event] ?? 0) + 1
        assert.strictEqual(scene.itemOf[event], item.id)
      }
    assert.deepStrictEqual(
      seen.flatMap((times, index) => (times === 1 ? [] : [`${events[index]?.type} ${times} times`])),
      []
    )
    scene.items.forEach((item, id) => assert.strictEqual(item.id, id))
  })

  property("has nothing in a row of a lane that overlaps [P1201]", (scene) => {
    const reached = new Map<string, number>()
    for (const span of spansOf(scene)) {
      const row = `${span.lane} ${span.row}`
      assert.isAtMost(reached.get(row) ?? -Infinity, span.from, `${span.label} in ${row}`)
      assert.isAtMost(span.from, span.to)
      reached.set(row, span.to)
    }
    for (const item of scene.items) assert.isBelow(item.row, scene.lanes[item.lane]?.rows ?? 0)
  })

  property("has what is at the same time in as few rows as that takes [P1201]", (scene) => {
    for (const lane of scene.lanes) {
      const own = scene.items.filter((item) => item.lane === lane.id)
      // a row more than one is there because something stood in each of the others
      if (lane.rows > 1) assert.isAtLeast(new Set(own.map(({ row }) => row)).size, lane.rows)
    }
  })

  property("is where its events say, and ends within the time of the run [P1202]", (scene, { events }, isWhole) => {
    for (const item of scene.items) {
      assert.isAtLeast(startOf(item), scene.from)
      assert.isAtMost(endOf(item), scene.to)
      if (!isWhole) continue
      const own = item.events.flatMap((index) => events[index]?.at ?? [])
      for (const at of own) {
        if (item.shape === "mark") assert.strictEqual(item.at, at)
        else if (item.part !== "wait")
          assert.isTrue(at >= item.from && (at <= item.to || item.part === "mending"), item.label)
      }
      const [first, last] = [events[item.events[0] ?? -1], events[item.events.at(-1) ?? -1]]
      if (item.shape !== "span" || first === undefined || last === undefined) continue
      if (first.type.endsWith("-start")) assert.strictEqual(item.from, first.at, item.label)
      const isEnd = ["run-completed", "run-failed", "turn-end", "model-end", "model-failed"].includes(last.type)
      if (isEnd && item.events.length > 1) assert.strictEqual(item.to, last.at, item.label)
    }
  })

  property(
    "has a wait for each verdict that waits, as long as was decided or until something comes [P1203]",
    (scene, { events }, isWhole) => {
      if (!isWhole) return
      const spans = spansOf(scene)
      for (const [index, wait] of spans.entries()) {
        if (wait.part !== "wait") continue
        const verdict = events[wait.subject]
        assert.strictEqual(verdict?.type, "verdict")
        const planned = (verdict?.at ?? 0) + Number(verdict?.["delay"])
        assert.strictEqual(wait.from, verdict?.at)
        const next = spans[index + 1]
        const isNext = next?.lane === wait.lane && next.row === wait.row && next.from === wait.to
        // or else its run ended meanwhile, or the call did
        const isOver = events.some(
          ({ at, runId, type }) =>
            at === wait.to && runId === verdict?.runId && (type.startsWith("run-") || type.startsWith("tool-"))
        )
        if (wait.to !== planned) assert.isTrue(wait.to < planned && (isNext || isOver), `${wait.to} for ${planned}`)
      }
    }
  )

  it("has what the transport sent between its waits, and cuts a wait where the next attempt comes early [P1203]", () => {
    const scene = Scene.make(written("mended"))
    const lane = scene.lanes.find(({ layer }) => layer === "transport")?.id
    const sent = spansOf(scene).flatMap(({ from, label, lane: own, part, state, to }) =>
      own === lane ? [`${part} ${from - scene.from}-${to - scene.from} ${state} ${label}`] : []
    )
    assert.deepStrictEqual(sent, [
      "send 0-36 failed send 1",
      "wait 36-286 waited waits before send 2",
      "send 286-296 ok send 2",
      "send 311-318 failed send 1",
      "wait 318-568 waited waits before send 2",
      "send 568-574 failed send 2",
      "wait 574-1074 waited waits before send 3",
      "send 1074-1080 failed send 3"
    ])
    const hasty = written("mended").events.map((event) =>
      event.type === "verdict" && event["layer"] === "model" ? { ...event, delay: 5000 } : event
    )
    const wait = spansOf(Scene.make(Recording.fromEvents(hasty))).find(
      ({ label }) => label === "waits before it asks again"
    )
    assert.deepStrictEqual([(wait?.from ?? 0) - scene.from, (wait?.to ?? 0) - scene.from], [1081, 1382])
  })

  property(
    "has the runs of an agent in tracks of it, below those that have started them [P1204]",
    (scene, { events }) => {
      const trackOf = (event: number) => {
        const lane = scene.items[scene.itemOf[event] ?? -1]?.lane
        return scene.tracks.find(({ id }) => id === scene.lanes[lane ?? -1]?.track)
      }
      const tracks = new Map<string, number>()
      const agents = new Map<string, string>()
      events.forEach(({ agent, parent, runId }, index) => {
        const track = trackOf(index)
        // the first event of a run says whose it is
        const name = agents.get(runId) ?? agent
        agents.set(runId, name)
        assert.strictEqual(track?.agent, name)
        assert.strictEqual(tracks.get(runId) ?? track?.id, track?.id)
        if (!tracks.has(runId) && track !== undefined) {
          tracks.set(runId, track.id)
          if (parent !== undefined && tracks.has(parent.runId))
            assert.strictEqual(track.parent, tracks.get(parent.runId))
        }
      })
      const indexes = new Map(scene.tracks.map(({ id }, index) => [id, index]))
      for (const { parent, depth } of scene.tracks) assert.strictEqual(depth === 0, parent === undefined)
      for (const { parent, id } of scene.tracks)
        if (parent !== undefined) assert.isBelow(indexes.get(parent) ?? Infinity, indexes.get(id) ?? -1)
    }
  )

  property("comes out the same when its events come one by one [P1205]", (scene, { events }) => {
    const taking = Recording.start()
    for (const [index, event] of events.entries()) {
      taking.event(event)
      // any state on the way can be drawn
      if (index % 9 === 0) assert.strictEqual(Scene.make(taking.recording()).itemOf.length, index + 1)
    }
    const { problems, ...drawn } = Scene.make(taking.recording())
    const { problems: _, ...expected } = scene
    assert.deepStrictEqual(drawn, expected)
    assert.isArray(problems)
  })

  property("counts what its runs have booked: work and recovery together [P1206]", (scene, { events }, isWhole) => {
    if (!isWhole) return
    const ends = new Map<string, Recorded>()
    for (const event of events) if (event.parent === undefined && isTerminal(event)) ends.set(event.runId, event)
    const usages = [...ends.values()].map((event) => Object(event["usage"]))
    const booked = usages.reduce((sum: number, usage) => sum + usage.inputTokens + usage.outputTokens, 0)
    const { recovery, work } = scene.totals
    assert.strictEqual(work.tokens + recovery.tokens, booked)
    const attempts = [...ends.values()].reduce((sum: number, event) => sum + Object(event["ledger"]).length, 0)
    assert.strictEqual(work.attempts + recovery.attempts, attempts)
    assert.deepStrictEqual(Totals.make(events), scene.totals)
  })

  property(
    "has a transcript in the order of its events, with all that was said [P1207]",
    (scene, { events }, isWhole) => {
      let last = -1
      for (const { event } of scene.transcript) {
        assert.isAtLeast(event, last)
        last = event
      }
      if (!isWhole) return
      const said = new Map<number, Array<string>>()
      for (const { event, text } of scene.transcript) said.set(event, [...(said.get(event) ?? []), text])
      const answered = new Set<string>()
      for (const [index, event] of events.entries()) {
        const texts = said.get(index) ?? []
        if (event.type === "tool-end") assert.deepStrictEqual(texts, [Object(event["use"]).settlement.text])
        const key = `${event.runId} ${event.turn}`
        if (event.type === "turn-end" && answered.has(key)) assert.deepStrictEqual(texts, [])
        if (event.type !== "model-end") continue
        answered.add(key)
        const { content } = Object(event["reply"])
        assert.strictEqual(texts.length, content.length)
        for (const part of content) if (part.type === "text") assert.include(texts, part.text)
      }
    }
  )
})

describe("the scale", () => {
  property("is monotone both ways, and the inverse of itself [P1208]", (scene) => {
    const axis = Axis.make(scene)
    const times = [...new Set(scene.items.flatMap((item) => [startOf(item), endOf(item)]))].toSorted(
      (one, other) => one - other
    )
    let last = -Infinity
    for (const time of times) {
      const drawn = axis.toDrawn(time)
      assert.isAbove(drawn, last)
      assert.closeTo(axis.toTime(drawn), time, 0.01)
      last = drawn
    }
    assert.strictEqual(axis.toDrawn(scene.from), 0)
    assert.closeTo(axis.toDrawn(Math.max(scene.to, scene.from + 1)), axis.length, 0.01)
    // what lasts is drawn as long as it lasts, but where nothing is at work
    for (const span of spansOf(scene)) {
      if (scene.gaps.some(({ from, to }) => from < span.to && to > span.from)) continue
      const length = axis.toDrawn(span.to) - axis.toDrawn(span.from)
      assert.closeTo(length, span.to - span.from, 0.01, span.label)
    }
  })

  it.effect("draws hours of waiting for a person short, and labels them with their length [P1208]", () =>
    Effect.map(references["approved"] ?? Effect.die("it is gone"), (recording) => {
      const scene = Scene.make(recording)
      const axis = Axis.make(scene)
      assert.isAbove(scene.to - scene.from, 3 * 3_600_000)
      assert.isBelow(axis.length, 2000)
      assert.deepStrictEqual(
        axis.breaks.map(({ from, to }) => to - from),
        [3 * 3_600_000]
      )
      const [gap] = axis.breaks
      assert.closeTo(axis.toTime(((gap?.start ?? 0) + (gap?.end ?? 0)) / 2), ((gap?.from ?? 0) + (gap?.to ?? 0)) / 2, 1)
      assert.include(Svg.draw(scene), "3 h later")
    })
  )

  property("has its ticks at round times, apart from each other [P1209]", (scene) => {
    const axis = Axis.make(scene)
    const ticks = Axis.ticks(axis, 0, axis.length, 8)
    let last = -Infinity
    for (const { drawn, label } of ticks) {
      assert.isAbove(drawn - last, axis.length / 25)
      assert.isTrue(drawn >= 0 && drawn <= axis.length + 0.01)
      const base = axis.breaks.findLast(({ end }) => label.startsWith("+") && end <= drawn + 0.01)?.to ?? scene.from
      const after = axis.toTime(drawn) - base
      assert.closeTo(after, Math.round(after), 0.01)
      assert.strictEqual(millisOf(label.replace("+", "")), Math.round(after))
      last = drawn
    }
  })

  it("has no two ticks that read alike, and none that cover each other, however near one looks [P1209]", () => {
    const axis = Axis.make({ from: noon, to: noon + 30 * 3_600_000, gaps: [] })
    const position = fc.double({ min: 0, max: axis.length, noNaN: true })
    fc.assert(
      fc.property(
        position,
        fc.integer({ min: 0, max: 27 }),
        fc.integer({ min: 3, max: 14 }),
        (start, nearer, count) => {
          const end = Math.min(axis.length, start + axis.length / 2 ** nearer)
          const ticks = Axis.ticks(axis, start, end, count)
          const pixels = (count * 90) / (end - start)
          ticks.forEach(({ drawn, label }, index) => {
            assert.closeTo(drawn, millisOf(label), 0.001)
            const before = ticks[index - 1]
            if (before === undefined) return
            const [one, other] = [before.label, label].map((text) => text.length * 5.5)
            assert.isAtLeast((drawn - before.drawn) * pixels, ((one ?? 0) + (other ?? 0)) / 2)
          })
        }
      )
    )
    const far = Axis.ticks(axis, 10_560_000, 10_561_000, 6).map(({ label }) => label)
    assert.deepStrictEqual(far, [
      "2 h 56 min",
      "2 h 56 min 0.2 s",
      "2 h 56 min 0.4 s",
      "2 h 56 min 0.6 s",
      "2 h 56 min 0.8 s",
      "2 h 56 min 1 s"
    ])
  })
})

describe("the picture", () => {
  property("has no boxes that cover each other, none outside, and no more than can be seen [P1210]", (scene) => {
    const drawn = sheet(scene)
    const width = 900
    for (const row of drawn.rows) {
      const boxes: Array<Box> = []
      boxesOf(drawn, row, width, whole(drawn), (box) => boxes.push(box))
      let items = 0
      let reached = -Infinity
      for (const box of boxes) {
        // what is too narrow is drawn wider, by less than two pixels
        assert.isAbove(box.x, reached - 2)
        assert.isAtLeast(box.x, gutter - 3)
        assert.isAtMost(box.x + box.width, width - margin + 4)
        reached = box.x + box.width
        items += box.many
      }
      assert.strictEqual(items, row.spans.length)
      assert.isAtMost(boxes.length, width)
      let marks = 0
      dotsOf(drawn, row, width, whole(drawn), ({ many }) => (marks += many))
      assert.strictEqual(marks, row.marks.length)
    }
  })

  it("of a hundred thousand events is no larger than one of ten thousand, by much [P1210]", () => {
    const sizes = [10_000, 100_000].map((events) => Svg.draw(Scene.make(long(events))).length)
    assert.isBelow(sizes[1] ?? Infinity, 3 * (sizes[0] ?? 0))
    assert.isBelow(sizes[1] ?? Infinity, 1_500_000)
  }, 60_000)

  property("and the page are complete, for any file [P1211]", (scene, recording) => {
    const svg = Svg.draw(scene)
    assert.match(svg, /^<svg [^]*<\/svg>$/)
    assert.notMatch(svg, /NaN|Infinity|undefined/)
    assert.match(Page.make(recording), /^<!doctype html>[^]*<\/html>\n$/)
  })
})
