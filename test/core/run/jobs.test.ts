/** Replies that a provider makes in the background: which of them a model call asks for, and which it cancels. */
import { assert, it } from "@effect/vitest"
import { Message, type Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Stream } from "effect"
import * as Interception from "../../../packages/core/src/model/Interception.ts"
import * as Jobs from "../../../packages/core/src/run/jobs.ts"
import type { Attempting, Calling, Job, Prefix } from "../../../packages/core/src/run/modelCallState.ts"

const itemOf = (data: string, kind = "background_job"): Message.ProviderItem => ({
  type: "provider-item",
  kind,
  opaque: { provider: "p", data }
})

const item = itemOf("j1")
const request: Model.Request = { messages: [Message.user("go")], tools: [], toolChoice: "auto" }

/** A model with replies in the background, and the requests whose reply was cancelled. */
const background = (name = "m") => {
  const cancelled: Array<Model.Request> = []
  const model: Model.Service = {
    name,
    provider: "p",
    generate: () => Effect.succeed(ScriptedModel.reply({ content: [] })),
    stream: () =>
      Stream.make<[Model.Part, Model.Part]>(
        { type: "text-delta", text: "Well" },
        { type: "finish", finish: "stop", usage: Usage.empty }
      ),
    background: {
      cancel: (of) =>
        Effect.sync(() => {
          cancelled.push(of)
          return undefined
        })
    }
  }
  return { cancelled, model }
}

const { background: _, ...plain } = background().model

/** A model call before its first attempt: nothing else of it is read. */
const calling = (prefix?: Prefix) => ({ prefix }) as unknown as Calling

const attemptWith = (model: Model.Service) => ({ model, request }) as Attempting

/** The message that names a job. */
const naming = (one: Message.ProviderItem) =>
  Message.settle({ content: [one], finish: "paused", usage: Usage.empty }, [])

/** What a call knows of the job of a model. */
const jobOf = (call: Calling, model: Model.Service) => {
  const job = call.jobs?.get(model)
  return job && { message: job.message, isFound: job.isFound, isRecorded: job.isRecorded, shown: job.shown }
}

it("a paused reply names its job by an item of its own kind [P1406]", () => {
  const other = itemOf("s1", "search")
  assert.strictEqual(Jobs.itemOf(ScriptedModel.reply({ content: [other, item], finish: "paused" })), item)
  assert.isUndefined(Jobs.itemOf(ScriptedModel.reply({ content: [other], finish: "paused" })))
  assert.isUndefined(Jobs.itemOf(ScriptedModel.reply({ content: [item], finish: "stop" })))
})

it("only a model that can cancel a job may begin one [P1406]", () => {
  assert.isTrue(Jobs.mayBegin(background().model))
  assert.isFalse(Jobs.mayBegin(plain))
})

it("an attempt asks for the job of its model, and otherwise begins one [P1406]", () => {
  const { model } = background()
  const call = calling()
  const attempting = attemptWith(model)
  const first = Jobs.requestOf(call, attempting)
  assert.deepStrictEqual({ ...first, background: undefined }, { ...request, background: undefined })
  assert.notProperty(first.background, "isFound")
  assert.strictEqual(Jobs.requestOf(call, attemptWith(plain)), request)
  first.background?.begun(item)
  const asked = Jobs.requestOf(call, attempting)
  assert.deepStrictEqual(asked.messages, [...request.messages, naming(item)])
  assert.notProperty(asked.background, "isFound")
  assert.strictEqual(Jobs.requestOf(call, attemptWith(background().model)).messages, request.messages)
})

it("a job that only a record names was begun by another process [P1406]", () => {
  const { model } = background()
  const found = calling()
  Jobs.replied(found, attemptWith(model), item)
  assert.deepStrictEqual(jobOf(found, model), { message: naming(item), isFound: true, isRecorded: true, shown: "" })
  assert.deepInclude(Jobs.requestOf(found, attemptWith(model)).background, { isFound: true })
  const own = calling()
  Jobs.requestOf(own, attemptWith(model)).background?.begun(item)
  assert.deepStrictEqual(jobOf(own, model), { message: naming(item), isFound: false, isRecorded: false, shown: "" })
  const next = itemOf("j2")
  Jobs.replied(own, attemptWith(model), next)
  assert.deepStrictEqual(jobOf(own, model), { message: naming(next), isFound: false, isRecorded: true, shown: "" })
})

it("a job that continues a text has shown it from the beginning [P1406]", () => {
  const { model } = background()
  const prefix = { text: "Well" } as Prefix
  const call = calling(prefix)
  Jobs.replied(call, attemptWith(model), item)
  assert.strictEqual(call.jobs?.get(model)?.base, prefix)
  assert.strictEqual(jobOf(call, model)?.shown, "Well")
})

it("a job is behind if another model has added to the text that it has shown [P1406]", () => {
  const job = { shown: "Well, then" } as Job
  const behind = (text: string) => Jobs.isBehind(job, { text } as Prefix)
  assert.isFalse(Jobs.isBehind(job, undefined))
  for (const text of ["", "Well", "Well, then"]) assert.isFalse(behind(text), text)
  for (const text of ["Well, then I", "No"]) assert.isTrue(behind(text), text)
})

it.effect("a reply is recorded when it has ended, not before [P1406]", () =>
  Effect.gen(function* () {
    const { model } = background()
    assert.strictEqual(Jobs.recording(calling(), plain), plain)
    const begun = () => {
      const call = calling()
      Jobs.requestOf(call, attemptWith(model)).background?.begun(item)
      return { recording: Jobs.recording(call, model), isRecorded: () => call.jobs?.get(model)?.isRecorded }
    }
    const whole = begun()
    yield* whole.recording.generate(request)
    assert.isTrue(whole.isRecorded())
    const streamed = begun()
    const seen: Array<unknown> = []
    yield* Stream.runForEach(streamed.recording.stream(request), ({ type }) =>
      Effect.sync(() => seen.push([type, streamed.isRecorded()]))
    )
    assert.deepStrictEqual(seen, [
      ["text-delta", false],
      ["finish", true]
    ])
    // a call without a job has nothing to note
    yield* Jobs.recording(calling(), model).generate(request)
  })
)

it.effect("a call that ends cancels the jobs of all its models, each once [P1406]", () =>
  Effect.gen(function* () {
    assert.isUndefined(Jobs.leave(calling()))
    const [one, two] = [background("one"), background("two")]
    const call = calling()
    Jobs.replied(call, attemptWith(one.model), item)
    Jobs.replied(call, attemptWith(two.model), itemOf("j2"))
    yield* Jobs.leave(call) ?? assert.fail("nothing is cancelled")
    const asked = (of: Message.ProviderItem) => [{ ...request, messages: [...request.messages, naming(of)] }]
    assert.deepStrictEqual([one.cancelled, two.cancelled], [asked(item), asked(itemOf("j2"))])
    yield* Jobs.leave(call) ?? assert.fail("the call has jobs no more")
    assert.lengthOf(one.cancelled, 1)
  })
)

it.effect("a process that is left cancels only a job that no record names [P1406]", () =>
  Effect.gen(function* () {
    const steps: Array<unknown> = []
    const interceptor = (isLeft: boolean): Interception.Interceptor => ({
      intercept: (step, self) => {
        steps.push(step)
        return self
      },
      isLeft: () => isLeft
    })
    const cancels = (isLeft: boolean, isRecorded: boolean) =>
      Effect.gen(function* () {
        const { cancelled, model } = background()
        const call = calling()
        if (isRecorded) Jobs.replied(call, attemptWith(model), item)
        else Jobs.requestOf(call, attemptWith(model)).background?.begun(item)
        yield* Effect.provideService(Jobs.left(call, model), Interception.Current, interceptor(isLeft))
        return cancelled.length
      })
    assert.deepStrictEqual([yield* cancels(true, true), yield* cancels(true, false)], [0, 1])
    assert.deepStrictEqual(steps, [])
    assert.deepStrictEqual([yield* cancels(false, true), yield* cancels(false, false)], [1, 1])
    assert.deepStrictEqual(steps, [
      { type: "job cancel", model: "m" },
      { type: "job cancel", model: "m" }
    ])
  })
)
