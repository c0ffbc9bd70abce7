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

it.each([
  {
    what: "goes on from the text that was cut off, which is kept",
    cutOff: "Hel",
    goOn: () => ({ kept: "Hel", before: "He", parts }),
    asked: ["Hel"],
    rest: { before: "He", gives: parts },
    settlements: [["r", 42, "Hel"]]
  },
  {
    what: "discards that text if its model cannot go on",
    cutOff: "Hel",
    goOn: () => undefined,
    asked: ["Hel"],
    rest: { before: "", gives: "from the beginning" },
    settlements: [["r", 42, undefined]]
  },
  {
    what: "discards that text if its run continues no replies",
    cutOff: "Hel",
    goOn: undefined,
    asked: [],
    rest: { before: "", gives: "from the beginning" },
    settlements: [["r", 42, undefined]]
  },
  {
    what: "begins by itself if no text was cut off",
    cutOff: undefined,
    goOn: () => ({ kept: "", before: "", parts }),
    asked: [],
    rest: { before: "", gives: "from the beginning" },
    settlements: []
  }
])("a model call of a run $what [P1563 P1371]", ({ asked, cutOff, goOn, rest, settlements }) => {
  const { of, settlements: made } = logOf(cutOff)
  const shown: Array<string> = []
  const step = call(goOn === undefined ? undefined : (text) => (shown.push(text), goOn()))
  const { before, self: begins } = restOf(of, "r", step, self)
  assert.deepStrictEqual<unknown>({ before, gives: Effect.runSync(begins) }, rest)
  assert.deepStrictEqual<ReadonlyArray<ReadonlyArray<unknown>>>([shown, made], [asked, settlements])
})

it("the log, if there is one, discards the text of a call whose result was recorded [P1371]", () => {
  const { of, settlements } = logOf("Hel")
  replaced(of, "r")
  assert.deepStrictEqual(settlements, [["r", 42, undefined]])
  const without = { ...of, log: undefined }
  replaced(without, "r")
  assert.deepStrictEqual(restOf(without, "r", call(), self), { before: "", self })
  assert.lengthOf(settlements, 1)
})
