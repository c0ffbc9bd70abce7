/** Agents in a row, at once and in a loop; the first chooses among its skills by a rule, or by its model. */
import * as Agent from "@kintsugi/core/Agent"
import * as Recovery from "@kintsugi/core/Recovery"
import * as Router from "@kintsugi/core/Router"
import * as Skill from "@kintsugi/core/Skill"
import * as Tool from "@kintsugi/core/Tool"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Transport from "@kintsugi/providers/Transport"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const add = Tool.make("add", {
  description: "Adds two numbers.",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite,
  run: ({ a, b }) => Effect.succeed(a + b)
})

const clerk = Agent.make("clerk", {
  skills: [
    Skill.make("add", { description: "Adds.", tools: [add] }),
    Skill.deterministic("hours", { description: "Says when it is open.", run: () => Effect.succeed("Always.") })
  ]
}).pipe(
  Agent.route(
    Router.byRule((input) => (/open/i.test(input) ? "hours" : undefined)).pipe(
      Router.onLlmError({ orElse: Recovery.respondWith("add") })
    )
  )
)

const checked = Agent.parallel({
  first: Agent.make("first", { prompt: "Check the sum." }),
  second: Agent.fallback(Agent.make("second", { prompt: "Check it twice." }), Agent.make("third", {}))
}).pipe(Agent.map(({ first, second }) => `${first} ${second}`))

const short = Agent.loopUntil(Agent.make("writer", { prompt: "Write one line." }), (line) => line.length < 80, {
  maxIterations: 3,
  feedback: (line) => `Make it shorter: ${line}`
})

const agent = clerk.pipe(Agent.andThen(checked), Agent.andThen(short), Agent.withBudget({ maxTurns: 12 }))

const layer = Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch)

export const main = (input: string): Promise<string> => Effect.runPromise(Effect.provide(agent(input), layer))
