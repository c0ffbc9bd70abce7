/** The settlement of a call that is ended before it has one: what the model has to know about its tool. */
import { assert, it } from "@effect/vitest"
import { cutOff, ended, isUnapproved, type LiveCall, liveFrom } from "../../../packages/core/src/tool/fate.ts"

const live = (
  state: Partial<LiveCall["state"]>,
  { isAsked, isUnsafe = false }: { readonly isAsked?: boolean; readonly isUnsafe?: boolean } = {}
): LiveCall => ({
  entry: { tool: { sideEffects: isUnsafe ? "unsafe" : "idempotent" } },
  state: { type: "Decoded", runs: 0, mayHaveActed: false, ...state },
  ...(isAsked === undefined ? {} : { isAsked })
})

const calls: ReadonlyArray<readonly [what: string, call: LiveCall | undefined]> = [
  ["not-begun", undefined],
  ["not-begun", live({})],
  ["not-begun", live({}, { isAsked: false })],
  ["not-begun", live({ type: "Over", why: { type: "denied" } })],
  ["unapproved", live({}, { isAsked: true })],
  ["unapproved", live({ type: "Waiting" })],
  ["unapproved", live({ type: "Over", why: { type: "waits" } })],
  ["begun", live({ runs: 1 })],
  ["begun", live({ mayHaveActed: true })],
  ["begun", live({ runs: 1 }, { isUnsafe: true, isAsked: true })],
  ["unknown", live({ mayHaveActed: true }, { isUnsafe: true })]
]

const unknown = "It may have taken effect: look that up before any repetition."
const texts: Readonly<Record<string, Readonly<Record<"run" | "interrupt" | "supersede", string>>>> = {
  "not-begun": {
    run: "The call was interrupted before it ended.",
    interrupt: "The call was not run: a message of the user came before it.",
    supersede: "The call was not run: superseded by a message of the user."
  },
  unapproved: {
    run: "The call was not run: it was still waiting for approval.",
    interrupt: "The call was not run: a message of the user came before it.",
    supersede: "The call was not run: superseded by a message of the user."
  },
  begun: {
    run: "The call was interrupted before it ended.",
    interrupt: "The call was interrupted before it ended.",
    supersede: "The call was interrupted before it ended: superseded by a message of the user."
  },
  unknown: {
    run: `The call was cut off after its start. ${unknown}`,
    interrupt: `The call was cut off after its start. ${unknown}`,
    supersede: `The call was cut off after its start. ${unknown}`
  }
}

it("the text says whether the tool has begun, and who has ended the call", () => {
  for (const [what, call] of calls) {
    for (const by of ["run", "interrupt", "supersede"] as const)
      assert.deepStrictEqual(
        ended(call, by),
        { kind: what === "unknown" ? "unknown" : "interrupted", text: texts[what]?.[by] ?? "" },
        `${JSON.stringify(call)} by ${by}`
      )
    assert.deepStrictEqual(ended(call), ended(call, "run"))
    if (call !== undefined) assert.strictEqual(isUnapproved(call), what === "unapproved", JSON.stringify(call))
  }
})

it("a call that was cut off says why, and that it may have acted if nothing excludes it", () => {
  const [begun, acted] = [live({ runs: 1 }), live({ mayHaveActed: true }, { isUnsafe: true })]
  assert.deepStrictEqual(cutOff(begun, "the run is over"), {
    kind: "interrupted",
    text: "ERROR: the call was stopped, for the run is over"
  })
  const cut = cutOff(acted, "the run is over")
  assert.strictEqual(cut.kind, "unknown")
  assert.isTrue(cut.text.startsWith("ERROR: the call was stopped, for the run is over"))
  assert.notStrictEqual(cut.text, "ERROR: the call was stopped, for the run is over")
})

it("what waited in a snapshot has begun if its work has, or if it has run before", () => {
  const handed = { type: "deferred", token: "t", handle: 1, expiresAt: 9, arguments: {} } as const
  assert.deepStrictEqual(liveFrom(handed, "unsafe"), {
    entry: { tool: { sideEffects: "unsafe" } },
    state: { type: "Waiting", runs: 1, mayHaveActed: true }
  })
})
