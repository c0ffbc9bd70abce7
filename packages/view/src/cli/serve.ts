/** The command `kintsugi serve`: a page on this machine that shows an agent and runs it. */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"

const agent = Argument.Path("agent").pipe(
  Argument.withMetavar("<file#name>"),
  Argument.withDescription(
    "A module and the name of one of its exports: an agent, or an object with an agent and a layer of its services. Without a name it is the default export, the export 'agent', or the only agent"
  )
)

const port = Flag.Int("port").pipe(
  Flag.withDefault(0),
  Flag.withDescription("The port on 127.0.0.1; by default a free one")
)

export const command = Command.make("serve", { agent, port }, (given) =>
  Effect.flatMap(
    Effect.promise(() => import("./serving.ts")),
    ({ serving }) => serving(given)
  )
).pipe(
  Command.withDescription(
    "Shows an agent on a page of this machine, and runs it: with a model that stands in without a key, with faults that you choose, and with the runs that were kept in .kintsugi. The module is imported, and again after each change"
  ),
  Command.withShortDescription("an agent on a page: run it, break it, run it again"),
  Command.withExamples([
    { command: "kintsugi serve agent.ts", description: "the only agent of agent.ts" },
    { command: "kintsugi serve serve.ts#desk --port 4400", description: "an agent and a layer, on a port of its own" }
  ])
)
