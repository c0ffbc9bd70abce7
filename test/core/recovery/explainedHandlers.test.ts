/** What is explained of handlers that name their verdicts, of persons, and of unsafe tools, branch by branch. */
import { assert, it } from "@effect/vitest"
import { Agent, Compaction, Recovery } from "@kintsugi/core"
import { Duration, Effect, Schedule } from "effect"

const cleanup = Agent.deterministic("cleanup", (raw: string) => Effect.succeed(raw))
const brief = Agent.deterministic("brief", (raw: string) => Effect.succeed(raw))
const retry = (retries: number) => Recovery.retry({ retries, initialBackoff: "1 second", factor: 1, maxHint: 0 })
const choose = () => Recovery.raise
const worstOf = (node: Parameters<typeof Recovery.explain>[0], options = {}) => {
  const { worst } = Recovery.explain(node, options)
  return { attempts: worst.attempts, waits: Duration.toMillis(worst.waits) }
}

it("retries made from options see the same failures, so the longest of them bounds a handler [P1102]", () => {
  const among = [retry(2), retry(3), Recovery.raise]
  assert.deepStrictEqual(worstOf(Recovery.when(choose, { among })), { attempts: 4, waits: 3000 })
  // the same retry twice is one
  assert.deepStrictEqual(worstOf(Recovery.when(choose, { among: [retry(2), retry(2)] })), { attempts: 3, waits: 2000 })
})

it("schedules, fixers and persons of a handler count each for itself [P1102]", () => {
  const spaced = () => Recovery.retry(Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(2)]))
  assert.deepStrictEqual(worstOf(Recovery.when(choose, { among: [spaced(), spaced()] })), { attempts: 5, waits: 4000 })
  const mixed = [retry(2), Recovery.fix(cleanup, { retries: 3 }), Recovery.fix(brief, { retries: 1 })]
  assert.deepStrictEqual(worstOf(Recovery.when(choose, { among: mixed })), { attempts: 7, waits: 2000 })
})

it("ladders and handlers within a handler are explained as they are by themselves [P1102]", () => {
  const ladder = Recovery.ladder(retry(2), Recovery.raise)
  const outer = Recovery.when(choose, { among: [ladder, Recovery.raise] })
  const [row] = Recovery.explain(outer).rows
  assert.deepStrictEqual(
    row?.rungs.map(({ verdict }) => verdict),
    ["when → retry", "when → raise", "when → raise"]
  )
  const inner = Recovery.when(choose, { among: [retry(3), Recovery.raise] })
  assert.deepStrictEqual(worstOf(Recovery.when(choose, { among: [inner, retry(1)] })), { attempts: 4, waits: 3000 })
  // one with a bound of its own is not merged with the others
  const atMost = Recovery.when(choose, { among: [retry(3), Recovery.raise], atMost: 9 })
  assert.deepStrictEqual(worstOf(Recovery.when(choose, { among: [atMost, retry(1)] })), { attempts: 5, waits: 4000 })
})

it("what is behind a handler that never gives up is not explained; behind one that may, it is [P1102]", () => {
  const rungs = (...among: ReadonlyArray<ReturnType<typeof retry> | typeof Recovery.raise>) =>
    Recovery.explain(Recovery.ladder(Recovery.when(choose, { among }), retry(1))).rows[0]?.rungs.map(
      ({ verdict }) => verdict
    )
  assert.deepStrictEqual(rungs(Recovery.raise), ["when → raise"])
  assert.deepStrictEqual(rungs(Recovery.raise, retry(2)), ["when → retry", "when → raise", "retry"])
  assert.deepStrictEqual(rungs(), ["retry"])
})

it("atMost bounds a handler only if its verdicts would repeat more often [P1102]", () => {
  const handler = (atMost: number) =>
    Recovery.when(choose, {
      among: [retry(2), Recovery.fix(cleanup, { retries: 2 }), Recovery.raise],
      atMost
    })
  assert.deepStrictEqual(worstOf(handler(4)), { attempts: 5, waits: 2000 })
  assert.strictEqual(worstOf(handler(3)).attempts, 4)
  assert.strictEqual(Recovery.explain(handler(3)).worst.fixerRuns, 8)
})

it("a request to a person takes as long as it is valid, and without end if it is made again [P1102]", () => {
  const time = (onExpiry: "refuse" | "ask-again") =>
    Duration.toMillis(Recovery.explain({ Busy: Recovery.ask({ times: 2, validFor: "1 minute", onExpiry }) }).worst.time)
  assert.strictEqual(time("refuse"), 120_000)
  assert.strictEqual(time("ask-again"), Infinity)
})

it("an unsafe tool is repaired by what runs nothing, and repeated where it has not run [P1102 P601]", () => {
  const unsafe = { isUnsafe: true }
  const result = Recovery.fix(cleanup, { as: "result", retries: 2 })
  assert.deepInclude(Recovery.explain({ Busy: result }, unsafe).worst, { attempts: 1, fixerRuns: 2 })
  for (const tag of ["InvalidArgs", "DeserializationError", "ToolTimeoutError"])
    assert.strictEqual(Recovery.explain({ [tag]: retry(2) }, unsafe).worst.attempts, 3, tag)
  for (const tag of ["ExecutionError", "orElse", "Busy"])
    assert.strictEqual(Recovery.explain({ [tag]: retry(2) }, unsafe).worst.attempts, 1, tag)
})

it("compactions are bounded by the two of a conversation, each with the calls of its agent [P1102]", () => {
  const summariser = Agent.make("summariser", { budget: { maxTurns: 1 } })
  const compact = Recovery.compact(Compaction.summarise(summariser))
  const { worst } = Recovery.explain({ ContextTooLongError: compact })
  assert.strictEqual(worst.attempts, 3)
})

it("a handler counts persons and compactions among its verdicts, and a handler that names none may do anything [P1102]", () => {
  const rungsOf = (handler: Parameters<typeof Recovery.explain>[0]) => Recovery.explain(handler).rows[0]?.rungs ?? []
  const verdicts = (handler: Parameters<typeof Recovery.explain>[0]) => rungsOf(handler).map(({ verdict }) => verdict)
  const consulting = Recovery.when(() => Recovery.tell(), { among: [Recovery.ask({ times: 2 }), Recovery.tell()] })
  assert.strictEqual(Recovery.explain(consulting).worst.asks, 2)
  assert.deepStrictEqual(verdicts(consulting), ["when → ask", "when → tell"])
  const compact = Recovery.compact(Compaction.dropOldest({ keepLast: 2 }))
  const compacting = (atMost?: number) =>
    Recovery.when(choose, { among: [compact, Recovery.raise], ...(atMost === undefined ? {} : { atMost }) })
  const [first] = rungsOf(compacting())
  assert.deepInclude(first, { verdict: "when → compact dropOldest", compactions: 2 })
  assert.deepStrictEqual(verdicts(compacting(2)), ["when → compact dropOldest", "when → raise"])
  assert.deepStrictEqual(verdicts(compacting(1)), ["when", "when → raise"])
  const anything = Recovery.when(choose)
  const [rung] = rungsOf(anything)
  assert.deepInclude(rung, { verdict: "when", runsTool: true, fixerRuns: 8 })
  assert.deepStrictEqual(verdicts(Recovery.when(choose, { among: [anything, Recovery.raise] })), [
    "when → raise",
    "when"
  ])
})
