/** The worst case of agents whose texts are checked, whose conversations are shortened, and whose transport sends once. */
import { assert, it } from "@effect/vitest"
import { Agent, Backoff, Budget, Compaction, Explanation, Recovery } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { Duration, Effect, Schedule } from "effect"

const { pass } = Agent.guard

/** An agent of so many turns that asks its model so often in each. */
const agentOf = (maxTurns: number, maxAttempts = 1) =>
  Agent.make("asking", { budget: { maxTurns } }).pipe(
    Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts, initialBackoff: 0, maxHint: 0 }) })
  )

const modelCallsOf = ({ worst }: Explanation.RunExplanation) => worst.modelCalls

it("checks that call no agent add no model calls, repeated or not, and let the turns of a caller bound a run [P1599]", () => {
  const checked = agentOf(9).pipe(Agent.guardOutput(() => pass, { hold: 4 }))
  assert.strictEqual(modelCallsOf(Agent.explain(checked)), 9)
  const judged = agentOf(9).pipe(Agent.guardOutput(() => pass, { agent: agentOf(1) }))
  assert.strictEqual(modelCallsOf(Agent.explain(judged)), 9 + 9)
  const caller = (agent: typeof checked) =>
    Agent.make("caller", {
      budget: { maxTurns: 2, maxToolCalls: 5 },
      tools: [Agent.asTool(agent, { name: "ask", description: "Asks." })]
    })
  assert.strictEqual(modelCallsOf(Agent.explain(caller(checked))), 2)
  // what its checks ask takes no turn of the caller
  assert.strictEqual(modelCallsOf(Agent.explain(caller(judged))), 2 * 18)
})

it("the answer at a limit is checked like any other reply [P1594 P1599]", () => {
  const judged = agentOf(2).pipe(Agent.guardOutput(() => pass, { agent: agentOf(1) }))
  assert.strictEqual(modelCallsOf(Agent.explain(judged)), 2 + 2)
  assert.strictEqual(modelCallsOf(Agent.explain(judged.pipe(Agent.onBudgetExceeded(() => Budget.answer)))), 3 + 3)
})

it("an agent that shortens the conversation before a turn asks its model within the turns of the run [P1102]", () => {
  const brief = (attempts: number) =>
    agentOf(2).pipe(Agent.compactAt({ window: 1000, with: Compaction.summarise(agentOf(1, attempts)) }))
  assert.strictEqual(modelCallsOf(Agent.explain(agentOf(2))), 2)
  assert.strictEqual(modelCallsOf(Agent.explain(brief(1))), 2)
  assert.strictEqual(modelCallsOf(Agent.explain(brief(4))), 2 * 4)
})

it("a run whose table is in the place of the transport's resends sends each request once, and says no more [P1102]", () => {
  const transport = Transport.explain()
  const table = { NetworkError: Recovery.retry({ maxAttempts: 3 }) }
  const agent = Agent.make("asking", { budget: { maxTurns: 2 } })
  const once = Agent.explain(agent.pipe(Agent.onLlmError(table, { transport: "off" })), { transport })
  assert.deepInclude(once.worst, { modelCalls: 6, requests: 6 })
  assert.notInclude(Explanation.formatRun(once), "request")
  const sent = Agent.explain(agent.pipe(Agent.onLlmError(table)), { transport })
  const { requests } = transport.worst
  assert.isAbove(requests, 1)
  assert.deepInclude(sent.worst, { modelCalls: 6, requests: 6 * requests })
  assert.include(Explanation.formatRun(sent), `, 6 model calls, ${6 * requests} requests, `)
})

it("without given errors the most generous advice counts, and of several hints the longest [P1102]", () => {
  const advised = { orElse: Recovery.retry(Backoff.suggested()) }
  assert.isAbove(Recovery.explain(advised).worst.attempts, 1)
  assert.deepStrictEqual(Recovery.explain(advised), Recovery.explain(advised, { errors: [] }))
  const hinted = (seconds: number) => Recovery.retry({ retries: 1, maxHint: Duration.seconds(seconds) })
  const either = Recovery.when(() => hinted(5), { among: [hinted(5), hinted(20)] })
  const [rung] = Recovery.explain(either).rows[0]?.rungs ?? []
  assert.strictEqual(Duration.toSeconds(rung?.maxHint ?? 0), 20)
})

it("a schedule that cannot be tried out may repeat more often than any bound of its handler [P1102]", () => {
  type Row = Recovery.Verdict<Date, never, never, never, "exhausted", "repeats">
  const blind: Row = Recovery.retry(
    Schedule.recurs(3).pipe(
      Schedule.setInputType<Date>(),
      // only a date has this method
      Schedule.while(({ input }) => Effect.succeed(input.getTime() === 0))
    )
  )
  const handled = (verdict: Row, atMost: number) =>
    Recovery.when((_error: Date) => verdict, { among: [verdict], atMost })
  const boundsOf = (row: Row) =>
    Recovery.explain({ orElse: row }).rows[0]?.rungs.map(({ atMost, verdict }) => [verdict, atMost])
  assert.deepStrictEqual(boundsOf(handled(blind, 2)), [["when", 2]])
  // what is bounded by itself counts as its bound
  assert.deepStrictEqual(boundsOf(handled(handled(blind, 2), 3)), [["when", 2]])
  assert.deepStrictEqual(boundsOf(handled(handled(blind, 4), 3)), [["when", 3]])
})
