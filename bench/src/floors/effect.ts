/**
 * The loop as written with Effect alone: a model as a service, tools with schemas, calls of a reply at once, a limit of turns,
 * failures by type. No recovery, no shared budget, no events, no ledger, no snapshot, and a call that fails loses the transcript.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Work from "../work.ts"

export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export type Message =
  | { readonly role: "system" | "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: ReadonlyArray<Call> }
  | { readonly role: "tool"; readonly callId: string; readonly text: string }

export interface Reply {
  readonly text: string
  readonly calls: ReadonlyArray<Call>
}

export class Model extends Context.Service<
  Model,
  { readonly generate: (messages: ReadonlyArray<Message>) => Effect.Effect<Reply> }
>()("bench/Model") {}

class UnknownTool extends Data.TaggedError("UnknownTool")<{ readonly name: string }> {}
class TooManyTurns extends Data.TaggedError("TooManyTurns")<{ readonly turns: number }> {}
class TooLate extends Data.TaggedError("TooLate") {}
class BadJson extends Data.TaggedError("BadJson")<{ readonly cause: unknown }> {}

/** One tool, ready to be called with the text of a model. */
export type Tool = (args: string) => Effect.Effect<string, unknown>

const strict = { errors: "all", onExcessProperty: "error" } as const

export const tool = <Params, A>(
  parameters: Schema.Codec<Params, unknown>,
  success: Schema.Codec<A, unknown>,
  run: (params: Params) => Effect.Effect<A, unknown>
): Tool => {
  const decode = Schema.decodeUnknownEffect(parameters, strict)
  const encode = Schema.encodeEffect(success)
  return Effect.fnUntraced(function* (args) {
    const json: unknown = yield* Effect.try({ try: () => JSON.parse(args), catch: (cause) => new BadJson({ cause }) })
    const value = yield* run(yield* decode(json))
    return JSON.stringify(yield* encode(value))
  })
}

export const Params = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })

export const add = tool(Params, Schema.Finite, ({ a, b }) => Effect.succeed(a + b))

/** Runs to the answer of the model. */
export const agent = (tools: ReadonlyMap<string, Tool>, maxTurns: number) => {
  const settle = Effect.fnUntraced(function* (call: Call) {
    const run = tools.get(call.name)
    if (run === undefined) return yield* new UnknownTool({ name: call.name })
    const result: Message = { role: "tool", callId: call.id, text: yield* run(call.arguments) }
    return result
  })
  return Effect.fnUntraced(function* (input: string) {
    const model = yield* Model
    const messages: Array<Message> = [
      { role: "system", text: Work.prompt },
      { role: "user", text: input }
    ]
    for (let turn = 0; turn < maxTurns; turn++) {
      const { calls, text } = yield* model.generate(messages)
      if (calls.length === 0) return text
      const results = yield* Effect.forEach(calls, settle, { concurrency: "unbounded" })
      messages.push({ role: "assistant", text, calls }, ...results)
    }
    return yield* new TooManyTurns({ turns: maxTurns })
  })
}

/** The same with a deadline alone: the least cost of any deadline of a run. */
export const timed = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooLate, R> =>
  Effect.timeoutOrElse(run, { duration: "10 minutes", orElse: () => Effect.fail(new TooLate()) })

/** A reply that calls one tool. */
export const calling = (name: string, args: string): Reply => ({
  text: "",
  calls: [{ id: "c1", name, arguments: args }]
})

export const answering = (text: string): Reply => ({ text, calls: [] })

/** Calls a tool in every turn but the last. */
export const modelOf = (turns: number, call = calling("add", Work.args), answer = answering(Work.answer)) => {
  // a turn adds two messages, the first has two before it
  const last = 2 * turns
  return Model.of({
    generate: (messages) => Effect.succeed(messages.length >= last ? answer : call)
  })
}
