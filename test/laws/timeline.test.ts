/** What is drawn of layers is what they do. */
import { assert } from "@effect/vitest"
import { Agent, Explanation, Recovery } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { Effect } from "effect"
import fc from "fast-check"
import { fakeNetwork, finished, openAi, respond } from "../_support/network.ts"
import { fewRetries } from "./_support/policies.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** Without an own first wait, a transport waits longer than some caps allow. */
const sending = fewRetries.map((drawn) => ({ initialBackoff: 0, ...drawn }))

lawOfRuns(
  "if everything fails at once, each layer begins its attempts at the instants of the timeline [L508]",
  fc.record({ transport: sending, model: fewRetries, row: fc.constantFrom("ModelOverloadedError", "orElse") }),
  Effect.fnUntraced(function* ({ model, row, transport }, run) {
    const asked: Array<number> = []
    const retry = Recovery.retry(model)
    const agent = Agent.make("a", {}).pipe(
      Agent.onLlmError(row === "orElse" ? { orElse: retry } : { ModelOverloadedError: retry }),
      Agent.onEvent((event) => Effect.sync(() => void (event.type === "model-start" && asked.push(event.at))))
    )
    const settings = { retry: transport }
    const net = fakeNetwork(respond(503))
    yield* finished(run(agent, "go").pipe(Effect.provide(openAi(settings)), Effect.provide(net.layer)))
    const { isCut, lanes } = Explanation.timeline([
      { name: "model", explanation: Agent.explain(agent).model },
      { name: "transport", explanation: Transport.explain(settings) }
    ])
    assert.isFalse(isCut)
    assert.deepStrictEqual(
      lanes.map(({ attempts }) => attempts.map(({ at }) => Math.round(at))),
      [asked, net.times()].map((instants) => instants.map(Math.round))
    )
  })
)
