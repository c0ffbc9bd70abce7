/** A clerk before and after a change of its tools, and runs that begin with one clerk and end with the other. */
import { assert } from "@effect/vitest"
import { Agent, Message, Model, Recovery, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { calm } from "../../_support/dialogue.ts"
import { process } from "./engines.ts"
import { streaming } from "./readingModel.ts"
import { Busy } from "./scenarios.ts"

export const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })

/** The parameters of the tools before the change, and after it. */
export const Old = Schema.Struct({ id: Schema.String, sum: Schema.optionalKey(Schema.Finite) })
export const New = Schema.Struct({ ids: Schema.NonEmptyArray(Schema.String) })

/** One attempt of a tool. */
interface Ran {
  readonly tool: string
  readonly params: unknown
  readonly key: string
}

/** What a process does: the attempts of its tools, the requests to its model, and the requests for approval. */
export class Seen {
  readonly ran: Array<Ran> = []
  readonly requests: Array<Model.Request> = []
  readonly asked: Array<Durable.DurableRequest> = []
}

type Does = Effect.Effect<string, Busy>

const about = { description: "Works.", success: Schema.String, failure: Busy } as const

const running =
  ({ ran }: Seen, tool: string, does: Does) =>
  (params: unknown, { idempotencyKey: key }: Tool.ToolContext): Does =>
    Effect.andThen(
      Effect.sync(() => ran.push({ tool, params, key })),
      does
    )

const retrying = Tool.onError({
  Busy: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 hour" }),
  DeserializationError: Recovery.tell()
})

/** A tool with the earlier parameters. */
export const earlier = (seen: Seen, name: string, does: Does = Effect.succeed("done")) =>
  Tool.make(name, { ...about, parameters: Old, run: running(seen, name, does) }).pipe(retrying)

/** A tool with the current parameters. */
export const current = (seen: Seen, name: string, does: Does = Effect.succeed("done")) =>
  Tool.make(name, { ...about, parameters: New, run: running(seen, name, does) }).pipe(retrying)

/** A model that says these contents, one at each turn. */
export const saying = (seen: Seen, contents: ReadonlyArray<Message.Reply["content"]>) => {
  const generate: Model.Service["generate"] = (request) =>
    Effect.sync(() => {
      const { messages } = request
      seen.requests.push({ ...request, messages: [...messages] })
      const content = contents[messages.filter(({ role }) => role === "assistant").length]
      return {
        content: content ?? [Message.text("all done")],
        finish: content === undefined ? "stop" : "tool-calls",
        usage: Usage.make({ inputTokens: 10, outputTokens: 5 })
      }
    })
  return Layer.succeed(Model.Model, streaming({ name: "saying", provider: "test", generate }))
}

const budget = { maxDuration: "30 days" } as const

const optionsOf = (seen: Seen) => ({
  name: "clerk" as const,
  input: Schema.String,
  output: Schema.String,
  onApproval: (one: Durable.DurableRequest) => Effect.sync(() => void seen.asked.push(one))
})

/** The clerk before the change: it looks, and signs with approval. */
export const before = (contents: ReadonlyArray<Message.Reply["content"]>, does?: Does) => {
  const seen = new Seen()
  const tools = [
    earlier(seen, "look", does),
    earlier(seen, "sign").pipe(Tool.requireApproval({ validFor: "9 days" }))
  ] as const
  const agent = Agent.make("clerk", { model: saying(seen, contents), budget, tools })
  return { seen, durable: Durable.workflow(agent, optionsOf(seen)) }
}

/** How `look` becomes `find`, and `sign` becomes `endorse`. */
type Move = (old: typeof Old.Type) => typeof New.Type

export const usual: Move = ({ id }) => ({ ids: [id] })

/**
 * The clerk after the change: it finds, and endorses with approval. Without `moves`, it has no migration; if its change is not the last one,
 * it has another one behind that, which moves nothing.
 */
export const after = (
  contents: ReadonlyArray<Message.Reply["content"]>,
  moves?: Move,
  {
    does,
    isLast = true,
    name = "find"
  }: { readonly does?: Does; readonly isLast?: boolean; readonly name?: string } = {}
) => {
  const seen = new Seen()
  const find = current(seen, name, does)
  const endorse = current(seen, "endorse").pipe(Tool.requireApproval({ validFor: "9 days" }))
  const agent = Agent.make("clerk", { model: saying(seen, contents), budget, tools: [find, endorse] })
  const migrations =
    moves === undefined
      ? []
      : [
          {
            calls: [
              Durable.migrateCall({ from: { tool: "look", parameters: Old }, to: find, migrate: moves }),
              Durable.migrateCall({ from: { tool: "sign", parameters: Old }, to: endorse, migrate: moves })
            ]
          },
          ...(isLast ? [] : [{}])
        ]
  return { seen, durable: Durable.workflow(agent, { ...optionsOf(seen), migrations }) }
}

/** What serves and reads a workflow of a clerk. */
interface Clerk<E> {
  readonly durable: Durable.Durable<"clerk", Schema.String, Schema.String, E, never>
}

/** Starts a run in one process, which ends once the run waits or is at work. Another process then serves it. */
export const moved = <E1, E2>(first: Clerk<E1>, second: Clerk<E2>) =>
  Effect.gen(function* () {
    const stop = yield* process(first.durable.layer)
    const id = yield* Durable.start(first.durable, { id: "one", input: "go" })
    yield* quiet
    yield* stop
    yield* process(second.durable.layer)
    yield* Durable.resume(second.durable, id)
    yield* quiet
    return id
  })

/** Asserts that the run has ended with the answer of the model. */
export const assertDone = <E>({ durable }: Clerk<E>, id: string) =>
  Effect.map(Durable.poll(durable, id), (found) => {
    const result = Option.getOrUndefined(found)
    assert.isTrue(result?._tag === "Complete")
    if (result?._tag === "Complete") assert.deepStrictEqual(result.exit, Exit.succeed("all done"))
  })

/** The error that ended the run. */
export const failureOf = <E>({ durable }: Clerk<E>, id: string) =>
  Effect.map(Durable.poll(durable, id), (found) => {
    const result = Option.getOrUndefined(found)
    if (result?._tag !== "Complete") return assert.fail(`the run has not ended: ${result?._tag}`)
    return Effect.runSync(Effect.flip(result.exit))
  })
