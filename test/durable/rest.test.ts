/** A model call whose text a crash has cut off: it goes on, or writes a new text, and the log learns which. */
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { replaced, restOf } from "../../packages/durable/src/rest.ts"

const self = Effect.succeed("from the beginning")

/** A call that goes on as it is told, or does not know how. */
const call = (goOn?: (shown: string) => object | undefined) =>
  // a step with only what is read of it
  ({ type: "model call", ...(goOn === undefined ? {} : { goOn }) }) as unknown as Parameters<typeof restOf>[2]

const clock = { currentTimeMillisUnsafe: () => 42 }

/** A log in which this text of a run was cut off, and what was settled. */
const logOf = (shown: string | undefined) => {
  const settlements: Array<unknown> = []
  const log = {
    cutOffOf: (run: string) => (run === "r" ? shown : undefined),
    settle: (...of: ReadonlyArray<unknown>) => void settlements.push(of)
  }
  // a log with only what is asked of it
  return { settlements, of: { clock, log } as unknown as Parameters<typeof restOf>[0] }
}

const parts = Stream.empty

it("a call goes on from the text that was cut off, and the log keeps that text [P1563]", () => {
  const { of, settlements } = logOf("Hel")
  const asked: Array<string> = []
  const rest = restOf(
    of,
    "r",
    call((shown) => (asked.push(shown), { kept: "Hel", before: "He", parts })),
    self
  )
  assert.strictEqual(rest.before, "He")
  assert.strictEqual(Effect.runSync(rest.self), parts)
  assert.deepStrictEqual([asked, settlements], [["Hel"], [["r", 42, "Hel"]]])
})

it.each([
  ["the model cannot go on", call(() => undefined)],
  ["the run continues no replies", call()]
] as const)("the text that was cut off is discarded if %s [P1563]", (_, step) => {
  const { of, settlements } = logOf("Hel")
  assert.deepStrictEqual(restOf(of, "r", step, self), { before: "", self })
  assert.deepStrictEqual(settlements, [["r", 42, undefined]])
})

it("a call whose text was not cut off begins by itself, with a log or without [P1563]", () => {
  const never = call(() => assert.fail("it was asked to go on"))
  const { of, settlements } = logOf(undefined)
  assert.deepStrictEqual(restOf(of, "r", never, self), { before: "", self })
  assert.deepStrictEqual(settlements, [])
  const without = { ...of, log: undefined }
  assert.deepStrictEqual(restOf(without, "r", never, self), { before: "", self })
  replaced(without, "r")
})

it("the log discards the text of a call whose result was recorded [P1371]", () => {
  const { of, settlements } = logOf("Hel")
  replaced(of, "r")
  assert.deepStrictEqual(settlements, [["r", 42, undefined]])
})
