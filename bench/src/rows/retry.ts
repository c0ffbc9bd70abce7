/** A tool that fails twice and then succeeds, retried without a wait, beside the same with `Effect.retry` around a bare tool. */
import { Model, Recovery, Tool } from "@kintsugi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { each, report, times } from "../figures.ts"
import * as Bare from "../floors/effect.ts"
import { interleaved } from "../harness.ts"
import * as Ours from "../ours.ts"
import { effects } from "../portion.ts"
import * as Work from "../work.ts"

const runs = 3000
const turns = 2

class Unavailable extends Data.TaggedError("Unavailable")<{ readonly service: string }> {}

/** Fails twice, then adds, then begins anew. */
const flaky = () => {
  let tried = 0
  return ({ a, b }: typeof Ours.Params.Type): Effect.Effect<number, Unavailable> =>
    Effect.suspend(() =>
      ++tried % 3 === 0 ? Effect.succeed(a + b) : Effect.fail(new Unavailable({ service: "sums" }))
    )
}

const failing = flaky()
const bareTool = Bare.tool(Bare.Params, Schema.Finite, (params) => Effect.retry(failing(params), { times: 2 }))
const bare = Bare.agent(new Map([["add", bareTool]]), 8)

const ours = Ours.agentOf(
  Tool.make("add", {
    description: Work.description,
    parameters: Ours.Params,
    success: Schema.Finite,
    run: flaky()
  }).pipe(Tool.onError({ Unavailable: Recovery.retry({ retries: 2 }) }))
)

const samples = await interleaved(
  [
    effects(
      "bare Effect.retry",
      runs,
      Effect.provideService(
        Effect.suspend(() => bare(Work.input)),
        Bare.Model,
        Bare.modelOf(turns)
      ),
      Work.answer
    ),
    effects(
      "ours",
      runs,
      Effect.provideService(
        Effect.suspend(() => ours(Work.input)),
        Model.Model,
        Ours.modelOf(turns)
      ),
      Work.answer
    )
  ],
  { laps: 15 }
)

report("a tool fails twice and is retried", [
  ...each(samples, "bare Effect.retry", runs),
  ...each(samples, "ours", runs),
  times("ours to bare Effect.retry", samples, ["ours", "bare Effect.retry"], { margin: 0.2 })
])
