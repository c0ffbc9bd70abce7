/** What the log says about a renderer that fails. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Effect, Logger, References } from "effect"
import { agentWith, busy, callingOnce, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

it.run("a renderer that fails is a warning with the tool, the failure, the run and the call", (run) =>
  Effect.gen(function* () {
    const lines: Array<readonly [message: unknown, level: string, labels: unknown]> = []
    const logger = Logger.make(({ fiber, logLevel, message }) => {
      lines.push([message, logLevel, { ...fiber.getRef(References.CurrentLogAnnotations) }])
    })
    const runs: Array<string> = []
    const fetch = scripted("fetch", Effect.fail(busy()))
    const fails = Recovery.tell(() => Effect.fail(new Error("no words")))
    const agent = agentWith(fetch.tool.pipe(Tool.onError({ Busy: fails }))).pipe(
      Agent.onEvent(({ runId, type }) => Effect.sync(() => type === "run-start" && runs.push(runId)))
    )
    const model = yield* callingOnce("fetch")
    yield* run(agent, "go").pipe(Effect.provide([model.layer, Logger.layer([logger])]))
    assert.deepStrictEqual(read(model), ["told: permanent: busy; consider asking the user for clarification"])
    assert.deepStrictEqual(
      lines.map(([message, ...rest]) => [String([message].flat()[0]), ...rest]),
      [
        [
          "A renderer failed on a failure of tool 'fetch'",
          "Warn",
          { code: "Busy", retryable: false, runId: runs[0], agent: "worker", callId: "c1" }
        ]
      ]
    )
  })
)
