/**
 * What it costs to see an output while it is written: microseconds for each part, for texts of ever more parts. They stay
 * the same when the work is linear.
 */
import { Agent, Model, Usage } from "@kintsugi/core"
import { Effect, Schema, Stream } from "effect"

const Item = Schema.Struct({ name: Schema.String, tags: Schema.Array(Schema.String) })

const listing = Agent.make("lister", { output: Schema.Struct({ items: Schema.Array(Item) }) })
const writing = Agent.make("writer", { output: Schema.Struct({ text: Schema.String }) })

const partSize = 8

const cut = (text: string): ReadonlyArray<string> => text.match(new RegExp(`.{1,${partSize}}`, "gs")) ?? []

const serviceOf = (parts: ReadonlyArray<string>): Model.Service => ({
  name: "fixed",
  provider: "bench",
  generate: () => Effect.die("not asked for here"),
  stream: () =>
    Stream.fromIterable<Model.Part>([
      ...parts.map((text): Model.Part => ({ type: "text-delta", text })),
      { type: "finish", finish: "stop", usage: Usage.empty }
    ])
})

const item = JSON.stringify({ name: "a name", tags: ["one", "two"] })

const subjects = {
  "a long text": (parts: number) => ({ agent: writing, text: JSON.stringify({ text: "x".repeat(parts * partSize) }) }),
  "a long list": (parts: number) => ({
    agent: listing,
    text: `{"items":[${Array.from({ length: (parts * partSize) / (item.length + 1) }, () => item).join(",")}]}`
  })
}

for (const [name, make] of Object.entries(subjects)) {
  for (const count of [1000, 10_000, 50_000]) {
    const { agent, text } = make(count)
    const parts = cut(text)
    const provided = Effect.provideService(Model.Model, serviceOf(parts))
    const timed = async (stream: Stream.Stream<unknown, unknown, Model.Model>) => {
      const start = performance.now()
      await Effect.runPromise(provided(Stream.runDrain(stream)))
      return ((performance.now() - start) * 1000) / parts.length
    }
    const runnable = agent as typeof writing
    await timed(Agent.partials(runnable)("go"))
    const events = await timed(runnable.stream("go"))
    const partials = await timed(Agent.partials(runnable)("go"))
    console.log(
      `${name}, ${String(parts.length).padStart(6)} parts: ${partials.toFixed(2)} µs per part, its events alone ${events.toFixed(2)}`
    )
  }
}
