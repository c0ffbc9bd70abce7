/** What a durable run asks a model for when a process has died within a reply: the rest of it, behind what a reader has seen. */
import { assert, it } from "@effect/vitest"
import { Message, type Model, Usage } from "@kintsugi/core"
import { Effect, Stream } from "effect"
import { continuing } from "../../../packages/core/src/run/Continuing.ts"
import type { Calling, Job, Prefix } from "../../../packages/core/src/run/modelCallState.ts"

/** A model that says these pieces. */
const saying = (continuation: Model.Service["continuation"], ...pieces: ReadonlyArray<string>): Model.Service => ({
  name: "m",
  provider: "p",
  ...(continuation === undefined ? {} : { continuation }),
  generate: () => Effect.succeed({ content: pieces.map(Message.text), finish: "stop", usage: Usage.empty }),
  stream: () =>
    Stream.fromIterable<Model.Part>([
      ...pieces.map((text) => ({ type: "text-delta", text }) as const),
      { type: "finish", finish: "stop", usage: Usage.empty }
    ])
})

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** A model call, as far as a continuation reads it. */
const calling = (model: Model.Service, more: Partial<Calling> = {}): Calling =>
  // no other option is read
  ({ options: { model }, request, state: { type: "Idle", attempts: 0, shown: undefined }, ...more }) as Calling

/** The prefix of an attempt that continues a text. */
const prefixOf = (model: Model.Service, text: string): Prefix => {
  const { prefix } = calling(model)
  assert.isUndefined(prefix)
  const shown = { text, of: { content: [] } }
  const call = calling(model, { state: { type: "Idle", attempts: 1, shown } as never })
  assert.isTrue(continuing().admits(call))
  continuing().goOn(call)
  assert(call.prefix !== undefined)
  return call.prefix
}

const textOf = (model: Model.Service) =>
  Effect.map(Stream.runCollect(model.stream(request)), (parts) =>
    parts.flatMap((part) => (part.type === "text-delta" ? part.text : [])).join("")
  )

it("of a reply without a job it asks for what comes behind all that was shown [P1355]", () => {
  const model = saying("rest", "you?")
  const { afterDeath } = continuing()
  const after = afterDeath?.(calling(model), model)(request)?.("How are ")
  assert.deepInclude(after, { kept: "How are ", before: "How are " })
  assert.deepStrictEqual(after?.request.messages, [
    Message.user("hi"),
    { ...Message.assistant("How are"), incomplete: true }
  ])
  assert.isUndefined(afterDeath?.(calling(saying(undefined)), saying(undefined))(request))
})

const jobOf = (base: Prefix | undefined): Job => ({
  request,
  message: Message.assistant(""),
  base,
  isFound: false,
  isRecorded: true,
  shown: ""
})

it.effect(
  "of a job it asks for all of its reply, and shows what comes behind the text before it and the text of it [P1355]",
  () =>
    Effect.gen(function* () {
      for (const continuation of ["rest", "whole"] as const) {
        const model = saying(continuation, ...(continuation === "whole" ? ["Hello "] : [" "]), "how are ", "you?")
        const base = prefixOf(model, "Hello ")
        const jobs = new Map([[model, jobOf(base)]])
        const call = calling(model, { jobs, prefix: base })
        const after = continuing().afterDeath?.(call, model)(request)?.("how ")
        const before = continuation === "whole" ? "Hello how " : " how "
        assert.deepInclude(after, { kept: "Hello how ", before, request })
        assert.strictEqual(after && (yield* textOf(after.model)), "are you?")
      }
      const alone = saying("rest", "how are ", "you?")
      const after = continuing().afterDeath?.(calling(alone, { jobs: new Map([[alone, jobOf(undefined)]]) }), alone)
      const rest = after?.(request)?.("how ")
      assert.deepInclude(rest, { kept: "how ", before: "how ", request })
      assert.strictEqual(rest && (yield* textOf(rest.model)), "are you?")
    })
)
