/** The outline of a scene: which rows there are, what they say, and that nothing of the scene is missing from it. */
import { assert, describe, it } from "@effect/vitest"
import { Recording, Scene } from "@kintsugi/view"
import { Effect } from "effect"
import fc from "fast-check"
import type { Recorded } from "../../../packages/view/src/recording/Recorded.ts"
import * as Outline from "../../../packages/view/src/scene/Outline.ts"
import { mid } from "../_support/recorded.ts"
import { references, written } from "../_support/references.ts"
import { damage, damaged } from "./_support/drawn.ts"

const outlineOf = (events: ReadonlyArray<Recorded>) => {
  const scene = Scene.make({ events, problems: [] })
  return { scene, ...Outline.make(scene, events) }
}

/** The rows of a tree as text: indentation, name, badges and note. */
const drawn = ({ branches }: Outline.Outline, wanted: (branch: Outline.Branch) => boolean) =>
  branches
    .filter(wanted)
    .map(({ badges, depth, name, note }) =>
      [`${"  ".repeat(depth)}${name}`, ...badges.map(({ text, tone }) => `[${tone} ${text}]`), note].join(" ")
    )

describe("the outline of a run that failed [P1275]", () => {
  const outline = outlineOf(mid("mid-fail").events)

  it("has the run and its turns, with what was healed and what was lost [P1275]", () => {
    assert.deepStrictEqual(
      drawn(outline, ({ depth, kind }) => depth < 2 && kind !== "call"),
      [
        "refund-desk [lost PaymentDeclined] [healed 6 healed] [asked 3 h] Work through the 50 open refund requests of yesterday.",
        "  turn 1 lookupOrder",
        "  turn 2 [healed JSON repaired] lookupOrder",
        "  turn 3 [healed 3 healed] 10 × lookupOrder",
        "  turn 4 refund",
        "  turn 5 askPolicyResearcher",
        "  turn 6 lookupOrder",
        "  turn 7 [healed retried 2×] lookupOrder",
        "  turn 8 lookupOrder",
        "  turn 9 refund",
        "  turn 10 10 × lookupOrder",
        "  turn 11 [healed JSON repaired] lookupOrder",
        "  turn 12 [lost PaymentDeclined] [asked 3 h] refund"
      ]
    )
  })

  it("joins the healthy calls of a turn, and no others [P1275]", () => {
    const turn = outline.branches.find(({ name }) => name === "turn 3")
    const children = turn?.children.flatMap((id) => outline.branches[id] ?? []) ?? []
    assert.deepStrictEqual(
      children.map(({ badges, kind, name }) => [kind, name, ...badges.map(({ text }) => text)]),
      [
        ["model", "gpt-5"],
        ["call", "lookupOrder", "retried"],
        ["call", "lookupOrder", "retried"],
        ["call", "lookupOrder", "retried"],
        ["group", "7 × lookupOrder"]
      ]
    )
    assert.strictEqual(children.at(-1)?.children.length, 7)
  })

  it("gives the wait for a person and the attempt after it rows of their own [P1275]", () => {
    const fatal = outline.branches[outline.branchOf[outline.scene.itemOf[133] ?? -1] ?? -1]
    const call = outline.branches[fatal?.parent ?? -1]
    assert.isDefined(call)
    assert.strictEqual(call.note, '{id: "O-50", cents: 99999}')
    assert.deepStrictEqual(
      call.children.map((id) => [outline.branches[id]?.name, outline.branches[id]?.note, outline.branches[id]?.health]),
      [
        ["waits for a person", "more than 100 euros → approve", "ok"],
        ["attempt 1", "PaymentDeclined", "lost"]
      ]
    )
  })

  it("shows beside each wait of a call the decision that ended it [P1275]", () => {
    const call = { runId: "r", agent: "clerk", turn: 1, callId: "c1", tool: "refund" }
    const waits = (at: number, reason: string) => ({ ...call, at, type: "approval-requested", request: { reason } })
    const decides = (at: number, type: string) => ({ ...call, at, type: "approval-decided", decision: { type } })
    const { events } = Recording.fromEvents([
      { ...call, at: 0, type: "run-start", turn: 0, input: "go", transcript: [] },
      { ...call, at: 1, type: "turn-start" },
      waits(2, "amount"),
      decides(3, "edit"),
      waits(4, "account"),
      decides(5, "approve"),
      waits(6, "night"),
      { ...call, at: 7, type: "tool-start", arguments: {} }
    ])
    const { branches } = outlineOf(events)
    assert.deepStrictEqual(
      branches.filter(({ kind }) => kind === "part").map(({ name, note }) => `${name}: ${note}`),
      [
        "waits for a person: amount → edit",
        "waits for a person: account → approve",
        "waits for a person: night",
        "attempt 1: "
      ]
    )
  })

  it("has a sub-agent below the call that started it [P1275]", () => {
    const agent = outline.branches.find(({ name }) => name === "policy-researcher")
    assert.strictEqual(outline.branches[agent?.parent ?? -1]?.name, "askPolicyResearcher")
    assert.strictEqual(agent?.health, "ok")
  })

  it("shows the attempts and the sends of a model call, and the fixer of a tool call [P1275]", () => {
    const mended = outlineOf(written("mended").events)
    assert.deepStrictEqual(
      drawn(mended, ({ depth, kind }) => depth > 0 && depth < 4 && kind !== "run").map((line) => line.slice(0, 66)),
      [
        "  turn 1 [tell EscalationError] [healed retried] calculateNumberOfKeys",
        "    stand-in [healed retried] 1 call",
        "      attempt 1 ",
        "      send 1 [lost failed] ModelOverloadedError",
        "      send 2 ",
        '    calculateNumberOfKeys [tell EscalationError] {json: "{name: world,',
        "      attempt 1 [lost failed] NoKeys",
        "      fixes calculateNumberOfKeys, repair 1 [lost failed] EscalationEr",
        "  turn 2 [healed retried 3×] calculateNumberOfKeys",
        "    stand-in [healed retried 3×] 1 call",
        "      attempt 1 [lost failed] ModelOverloadedError",
        "      send 1 [lost failed] ModelOverloadedError",
        "      send 2 [lost failed] ModelOverloadedError",
        "      send 3 [lost failed] ModelOverloadedError",
        "      attempt 2 ",
        String.raw`    calculateNumberOfKeys {json: "{\"name\":\"world\", \"age\":30, \"a`,
        "  turn 3 ",
        "    stand-in “3”"
      ].map((line) => line.slice(0, 66))
    )
  })
})

describe("the outline of any recording [P1276]", () => {
  it.effect("has each item once, and its branches follow their parents [P1276]", () =>
    Effect.gen(function* () {
      const made = yield* Effect.all(Object.values(references))
      const all = [mid("mid-fail"), written("storm"), ...made].map(({ events }) => events)
      fc.assert(
        fc.property(fc.constantFrom(...all), damage, (events, harm) => {
          const { branchOf, branches, roots, scene } = outlineOf(damaged(events, harm).events)
          assert.strictEqual(branchOf.length, scene.items.length)
          for (const [item, branch] of branchOf.entries()) assert.include(branches[branch]?.items ?? [], item)
          const owned = branches.flatMap(({ children }) => children)
          assert.deepStrictEqual(
            [...roots, ...owned].toSorted((a, b) => a - b),
            branches.map(({ id }) => id)
          )
          assert.strictEqual(new Set(branches.map(({ key }) => key)).size, branches.length)
          for (const { children, depth, from, id, to } of branches) {
            assert.isAtMost(from, to)
            for (const child of children) {
              const {
                depth: deeper,
                from: begins,
                parent,
                to: ends
              } = branches[child] ?? { from: NaN, to: NaN, depth: NaN, parent: undefined }
              assert.deepStrictEqual([parent, deeper], [id, depth + 1])
              assert.isTrue(begins >= from && ends <= to)
              assert.isAbove(child, id)
            }
          }
        })
      )
    })
  )

  it("keeps the names of its branches while a recording grows [P1276]", () => {
    const { events } = mid("mid-fail")
    const keys = outlineOf(events).branches.map(({ key }) => key)
    for (const end of [1, 20, 31, 64, 100, 133]) {
      const early = outlineOf(events.slice(0, end)).branches.filter(({ kind }) => kind !== "part" && kind !== "group")
      for (const { key } of early) assert.include(keys, key)
    }
  })
})
