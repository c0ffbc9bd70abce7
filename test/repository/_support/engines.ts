/** A program that runs a durable run on so many engines as its argument says, and prints what each has given. */
export const engines = `import { Agent } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
const shout = Agent.deterministic("shout", (text) => Effect.succeed(text.toUpperCase()))
const shouts = Durable.workflow(shout, { name: "shout", input: Schema.String, output: Schema.String })
const url = Redacted.make("postgres://localhost")
const engines = [
  Durable.layerPglite({ folder: "runs" }),
  Durable.layerPostgres({ url }),
  Durable.layerPostgres({ url, runner: "client" })
]
const said = await Promise.all(
  engines.slice(0, Number(process.argv[2])).map((engine) =>
    Effect.runPromise(
      shouts.workflow
        .execute({ id: "1", input: "it lasts" })
        .pipe(Effect.provide(shouts.layer.pipe(Layer.provideMerge(engine))))
    ).catch((error) => error.message)
  )
)
process.stdout.write(JSON.stringify(said))
`
