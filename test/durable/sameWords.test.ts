/** A run keeps the words that its model has read, when a new process words the same otherwise. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Approval, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Logger, Option, Schema } from "effect"
import { calm } from "../_support/dialogue.ts"
import { process, type Reads, watched } from "./_support/engines.ts"
import { call, streaming } from "./_support/readingModel.ts"
import { Gone } from "./_support/scenarios.ts"

const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })

/** A clerk who looks in vain, gives a wrong answer, has something signed, and counts. Its rows and its schema say what the model reads. */
const clerk = (says: string, isStreamed = false) => {
  const requests: Array<Message.Transcript> = []
  const asked: Array<Durable.DurableRequest> = []
  const contents: ReadonlyArray<Message.Reply["content"]> = [
    [call("look"), call("nothing")],
    [Message.text("8")],
    [call("sign")],
    [Message.text("7")]
  ]
  const service = streaming({
    name: "reading",
    provider: "test",
    generate: ({ messages }) =>
      Effect.sync(() => {
        requests.push([...messages])
        const content = contents[messages.filter(({ role }) => role === "assistant").length] ?? []
        return {
          content,
          finish: content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop",
          usage: Usage.empty
        }
      })
  })
  const about = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String } as const
  const look = Tool.make("look", { ...about, failure: Gone, run: () => Effect.fail(new Gone({ message: "gone" })) })
  const sign = Tool.make("sign", { ...about, run: () => Effect.succeed("signed") })
  const agent = Agent.make("clerk", {
    model: Layer.succeed(Model.Model, service),
    // the issue of an answer that does not fit has these words
    output: Schema.Finite.check(Schema.makeFilter((value) => value === 7 || says)),
    skills: [
      Skill.make("work", {
        description: "Works.",
        tools: [look.pipe(Tool.onError({ Gone: Recovery.tell(() => says) })), sign.pipe(Tool.requireApproval())]
      })
    ]
  })
  const durable = Durable.workflow(agent, {
    name: "clerk",
    events: isStreamed,
    input: Schema.String,
    output: Schema.Finite,
    onApproval: (one) => Effect.sync(() => void asked.push(one))
  })
  return { asked, durable, requests }
}

/** A run that waits for its decision in one process, and is decided and ended in another one, whose words are these. */
const overProcesses = (words: readonly [string, string], isStreamed: boolean) =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    return yield* Effect.gen(function* () {
      const [first, second] = [clerk(words[0], isStreamed), clerk(words[1], isStreamed)]
      const stop = yield* process(first.durable.layer)
      const id = yield* Durable.start(first.durable, { id: "one", input: "go" })
      yield* quiet
      yield* stop
      yield* process(second.durable.layer)
      const [request] = first.asked
      assert.isDefined(request)
      yield* Durable.decide(second.durable, request, Approval.approve)
      yield* quiet
      const result = Option.getOrUndefined(yield* Durable.poll(second.durable, id))
      return { read: first.requests.at(-1) ?? [], later: second.requests, result }
    }).pipe(Effect.provide(layer))
  })

describe.each([false, true])("with events: %s", (isStreamed) => {
  // Finds out nothing of its own: its subject is how core words failures and answers of recorded turns
  it.effect("a run keeps the texts about failures and answers with which it began [P1711]", () =>
    Effect.gen(function* () {
      const { later, read, result } = yield* overProcesses(["ask Ann", "ask Bob"], isStreamed)
      // about the failed call, and about the answer that does not fit
      assert.lengthOf(JSON.stringify(read).split("ask Ann"), 3)
      // the new process asks once, and the conversation that the model reads goes on as it was
      assert.strictEqual(later.length, 1)
      assert.deepStrictEqual(later[0]?.slice(0, read.length), read)
      assert.notInclude(JSON.stringify(later), "ask Bob")
      assert.isTrue(result?._tag === "Complete" && Exit.isSuccess(result.exit) && result.exit.value === 7)
    })
  )
})

it.effect("a run that a newer release has begun waits for that release, and loses nothing [P1712]", () =>
  Effect.gen(function* () {
    let isNewer = false
    const reads: Reads = (name, stored) => {
      if (name !== "begin") return stored
      const row = stored as { readonly value: { readonly format: number } }
      assert.strictEqual(row.value.format, 3)
      return isNewer ? { ...row, value: { ...row.value, format: 4 } } : stored
    }
    const { layer } = yield* watched(false, undefined, reads)
    const logged: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
    yield* Effect.gen(function* () {
      const served = clerk("ask Ann")
      const { durable } = served
      yield* process(durable.layer)
      const id = yield* Durable.start(durable, { id: "one", input: "go" })
      yield* quiet
      isNewer = true
      const [request] = served.asked
      assert.isDefined(request)
      yield* Durable.decide(durable, request, Approval.approve)
      yield* quiet
      assert.strictEqual(Option.getOrUndefined(yield* Durable.poll(durable, id))?._tag, "Suspended")
      assert.match(
        String(logged),
        /Run '.+' of workflow 'clerk' was recorded by a newer release or a newer agent \(format 4/
      )
      assert.strictEqual(served.requests.length, 3)
      isNewer = false
      yield* Durable.resume(durable, id)
      yield* quiet
      const result = Option.getOrUndefined(yield* Durable.poll(durable, id))
      assert.isTrue(result?._tag === "Complete" && Exit.isSuccess(result.exit) && result.exit.value === 7)
    }).pipe(Effect.provide(layer), Effect.provide(logger))
  })
)
