/** What a scenario is, and what it may expect of a reply. */
import { type LlmError, Message, Model } from "@kintsugi/core"
import type { Transport } from "@kintsugi/providers"
import { Data, Effect, type Redacted, Stream } from "effect"

/** A reply that is not what the scenario asked for. */
export class Unexpected extends Data.TaggedError("Unexpected")<{ readonly message: string }> {}

/** What a scenario changes of the model under test. */
export interface Changes {
  readonly name?: string
  readonly apiKey?: Redacted.Redacted
  readonly maxTokens?: number
  readonly reasoning?: string
}

/** The model under test. */
export interface Subject {
  readonly model: (changes?: Changes) => Effect.Effect<Model.Service, never, Transport.HttpClient>
  /** The tokens of a prompt that is too long for every model. */
  readonly tooLong: number
}

/** Plays, and gives a note for the table; fails if the model does not do what was asked. */
export interface Scenario {
  readonly name: string
  /** Set where the answer is left at any point, so that its form says nothing. */
  readonly isPartial?: true
  readonly play: (subject: Subject) => Effect.Effect<string, LlmError.LlmError | Unexpected, Transport.HttpClient>
}

export const requestOf = (messages: string | Message.Transcript, more: Partial<Model.Request> = {}): Model.Request => ({
  messages: typeof messages === "string" ? [Message.user(messages)] : messages,
  tools: [],
  toolChoice: "auto",
  ...more
})

/** One whole reply. */
export const whole = (subject: Subject, request: Model.Request, changes?: Changes) =>
  Effect.flatMap(subject.model(changes), (model) => model.generate(request))

/** One streamed reply, collected. */
export const streamed = (subject: Subject, request: Model.Request, changes?: Changes) =>
  Effect.gen(function* () {
    const model = yield* subject.model(changes)
    const collector = new Model.Collector()
    yield* Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
    return collector.reply() ?? (yield* unexpected("the stream had no end"))
  })

export const unexpected = (message: string) => Effect.fail(new Unexpected({ message }))

/** The note of a reply that has text. */
export const said = (reply: Message.Reply) => {
  const text = Message.textOf(reply)
  return text.trim() === "" ? unexpected(`no text, finish '${reply.finish}'`) : Effect.succeed(tokens(reply))
}

export const tokens = ({ usage }: Message.Reply): string => `${usage.inputTokens} in, ${usage.outputTokens} out`

/** The calls of a reply that has some. */
export const callsOf = (reply: Message.Reply) => {
  const calls = Message.callsOf(reply)
  return calls.length === 0 ? unexpected(`no call, finish '${reply.finish}'`) : Effect.succeed(calls)
}

/** Succeeds where the effect fails with this error. */
export const failsWith = <A>(
  tag: LlmError.LlmError["_tag"],
  effect: Effect.Effect<A, LlmError.LlmError | Unexpected, Transport.HttpClient>
) =>
  Effect.matchEffect(effect, {
    onFailure: (error) => (error._tag === tag ? Effect.succeed(tag) : Effect.fail(error)),
    onSuccess: () => unexpected(`a reply, and no ${tag}`)
  })
