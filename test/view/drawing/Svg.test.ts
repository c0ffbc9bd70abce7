/** Where things stand in a picture: reckoned here from their times alone, and read from the SVG as it is written. */
import { assert, describe, it } from "@effect/vitest"
import { Recording, Scene, Svg } from "@kintsugi/view"
import { Effect } from "effect"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"
import { sheet } from "../../../packages/view/src/drawing/Layout.ts"
import type { Mark, Span } from "../../../packages/view/src/scene/Shapes.ts"
import { long, references, written } from "../_support/references.ts"

const width = 900
/** What stands left of the scale, and right of it. */
const [left, right] = [132, 14]

/** The place of a time: half a hundredth of the whole is left free on both sides. */
const placing = (scene: Scene.Scene) => {
  const axis = Axis.make(scene)
  const length = scene.gaps.length === 0 ? Math.max(1, scene.to - scene.from) : axis.length
  const drawn = (time: number) => (scene.gaps.length === 0 ? time - scene.from : axis.toDrawn(time))
  return (time: number) => left + ((drawn(time) + 0.005 * length) / (1.01 * length)) * (width - left - right)
}

interface Extent {
  readonly from: number
  readonly to: number
  readonly top: number
  readonly bottom: number
}

/** How far a path of lines reaches; of one with arcs, the circle that they are. */
const extentOf = (path: string): Extent => {
  const xs: Array<number> = []
  const ys: Array<number> = []
  let [x, y] = [0, 0]
  for (const [, letter = "", text = ""] of path.matchAll(/([A-Za-z])([^A-Za-z]*)/g)) {
    const values = text
      .trim()
      .split(/[\s,]+/)
      .map(Number)
    const [first = 0, second = 0] = values
    if (letter === "M" || letter === "L") [x, y] = [first, second]
    else if (letter === "H") x = first
    else if (letter === "V") y = first
    else if (letter === "l") [x, y] = [x + first, y + second]
    else if (letter === "q") [x, y] = [x + (values[2] ?? 0), y + (values[3] ?? 0)]
    else if (letter === "a") {
      ys.push(y - second, y + second)
      x += values[5] ?? 0
    }
    xs.push(x)
    ys.push(y)
  }
  return { from: Math.min(...xs), to: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) }
}

/** The items of a picture: their number, their title, and the extents of what is drawn of them. */
const itemsOf = (svg: string) =>
  [...svg.matchAll(/<g data-item="(\d+)"><title>([^<]*)<\/title>(.*?)<\/g>/g)].map(
    ([, item, title = "", inner = ""]) => ({
      item: Number(item),
      many: Number(/^([\d,]+) marks, among them/.exec(title)?.[1]?.replaceAll(",", "") ?? 1),
      shapes: [
        ...[...inner.matchAll(/<path class="([^"]*)"[^>]* d="([^"]*)"/g)].map(([, name = "", path = ""]) => ({
          name,
          ...extentOf(path)
        })),
        ...[...inner.matchAll(/<path class="([^"]*)" d="([^"]*)"/g)].map(([, name = "", path = ""]) => ({
          name,
          ...extentOf(path)
        })),
        ...[...inner.matchAll(/<rect class="([^"]*)" x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"/g)].map(
          ([, name = "", ...texts]) => {
            const [x = 0, y = 0, wide = 0, high = 0] = texts.map(Number)
            return { name, from: x, to: x + wide, top: y, bottom: y + high }
          }
        )
      ]
    })
  )

const near = 0.03

const checked = (recording: Recording.Recording) => {
  const scene = Scene.make(recording)
  const svg = Svg.draw(scene, { width })
  const pixelOf = placing(scene)
  const { rows } = sheet(scene)
  const rowOf = (item: Span | Mark) =>
    rows[scene.lanes.slice(0, item.lane).reduce((sum, lane) => sum + lane.rows, 0) + item.row]
  const counts = { spans: 0, marks: 0, seams: 0 }
  for (const { item: id, many, shapes } of itemsOf(svg)) {
    const item = scene.items[id]
    const row = item === undefined ? undefined : rowOf(item)
    if (item === undefined || row === undefined) return assert.fail(`there is no item ${id}`)
    const drawn = { from: Math.min(...shapes.map(({ from }) => from)), to: Math.max(...shapes.map(({ to }) => to)) }
    for (const { bottom, top } of shapes)
      assert.isTrue(top >= row.y - 1.1 && bottom <= row.y + row.height + 1.1, `${item.label} is in its row`)
    if (item.shape === "span") {
      const [from, to] = [pixelOf(item.from), pixelOf(item.to)]
      if (to - from >= 3) {
        assert.closeTo(drawn.from, from, near, item.label)
        assert.closeTo(drawn.to, to, near, item.label)
        counts.spans++
      } else assert.isTrue(drawn.from <= from + near && drawn.to >= to - near, item.label)
      continue
    }
    const middle = (drawn.from + drawn.to) / 2
    const away = pixelOf(item.at) - middle
    assert.isTrue(many === 1 ? Math.abs(away) < near : away > -near && away < 32, `${item.label} is ${away} away`)
    const own = shapes.find(({ name }) => name === `k-${item.tone}`)
    if (own === undefined) return assert.fail(`${item.label} has no mark of its own`)
    assert.closeTo((own.from + own.to) / 2, middle, near)
    assert.closeTo((own.top + own.bottom) / 2, row.y + row.height / 2, near)
    const seam = shapes.find(({ name }) => name === "k-thread")
    assert.strictEqual(seam !== undefined, item.tone === "mended")
    if (seam !== undefined) {
      assert.deepStrictEqual([seam.from, seam.to], [seam.from, seam.from])
      assert.closeTo(seam.from, middle, near)
      assert.isTrue(seam.top < row.y && seam.bottom > row.y + row.height)
      counts.seams++
    }
    counts.marks++
  }
  return counts
}

const reference = (name: string) => references[name] ?? Effect.die(`${name} is gone`)

describe("a picture [P1220]", () => {
  it.effect("has its bars, marks and seams where their times are [P1220]", () =>
    Effect.gen(function* () {
      const all = { spans: 0, marks: 0, seams: 0 }
      for (const name of Object.keys(references)) {
        const found = checked(yield* reference(name))
        for (const key of ["spans", "marks", "seams"] as const) all[key] += found?.[key] ?? 0
      }
      for (const many of Object.values(all)) assert.isAbove(many, 20)
      checked(long(5000))
    })
  )

  it("has the lines of its scale at the values of their labels [P1220]", () => {
    const scene = Scene.make(written("mended"))
    const pixelOf = placing(scene)
    const lines = [
      ...Svg.draw(scene, { width }).matchAll(/class="k-axis" d="M([\d.]+) [^>]*><text [^>]*x="([\d.]+)"[^>]*>([^<]*)</g)
    ]
    const labelled = lines.map(([, line, text, label = ""]) => [Number(line), Number(text), label] as const)
    assert.deepStrictEqual(
      labelled.map(([, , label]) => label),
      ["0", "200 ms", "400 ms", "600 ms", "800 ms", "1 s", "1.2 s", "1.4 s"]
    )
    for (const [line, text, label] of labelled) {
      const [value, unit] = label.split(" ")
      assert.closeTo(line, pixelOf(scene.from + Number(value) * (unit === "s" ? 1000 : 1)), near)
      assert.strictEqual(text, line)
    }
  })

  it.effect("has rows below each other, and calls each track what it is [P1220]", () =>
    Effect.gen(function* () {
      const named: Array<ReadonlyArray<string>> = []
      for (const name of ["mended", "nested"]) {
        const scene = Scene.make(yield* reference(name))
        const { headings, rows } = sheet(scene)
        rows.forEach(({ y }, at) => assert.isAtLeast(y, (rows[at - 1]?.y ?? 0) + (rows[at - 1]?.height ?? 30)))
        for (const { y } of headings) assert.isFalse(rows.some((row) => y > row.y && y < row.y + row.height))
        const texts = Svg.draw(scene).matchAll(/<text class="k-text k-name"[^>]*>(.*?)<\/text>/g)
        named.push([...texts].map(([, text = ""]) => text.replaceAll(/<[^>]*>/g, "")))
      }
      assert.deepStrictEqual(named, [
        ["json-analyst", "fixer json-fixer"],
        ["trip-planner", "sub-agent hotel-expert"]
      ])
    })
  )
})

describe("the title of a picture [P1222]", () => {
  it("names agents briefly, however long their names are [P1222]", () => {
    const run = (agent: string, runId: string) => ({ runId, agent, turn: 0, at: 5, type: "run-start" })
    const names = ["a", "b", "c", "d"].map((letter) => letter.repeat(3000))
    const titled = (agents: ReadonlyArray<string>) =>
      Svg.titleOf(Scene.make(Recording.fromEvents(agents.map((name, at) => run(name, String(at))))))
    assert.strictEqual(titled(names.slice(0, 1)), `A run of ${"a".repeat(39)}…`)
    assert.isBelow(titled(names).length, 200)
    assert.match(titled(names), / and 1 more$/)
    assert.strictEqual(titled(["clerk", "planner"]), "2 runs of clerk, planner")
  })
})
