/** A person is asked before its tool runs, and the run waits for the answer. */
import * as Agent from "@kintsugi/core/Agent"
import * as Approval from "@kintsugi/core/Approval"
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
}).pipe(Tool.requireApproval({ when: ({ a }) => a > 1e6, reason: "it is a large sum" }))

const agent = Agent.make("adder", { tools: [add] })

const layer = Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch)

export const main = (prompt: string, ask: (prompt: string) => Promise<boolean>): Promise<string> =>
  agent(prompt).pipe(
    Effect.provide(
      Approval.layer(({ reason, tool }) =>
        Effect.map(
          Effect.promise(() => ask(`${tool}: ${reason}. Is it allowed?`)),
          (isAllowed) => (isAllowed ? Approval.approve : Approval.refuse("It is not allowed."))
        )
      )
    ),
    Effect.provide(layer),
    Effect.runPromise
  )
