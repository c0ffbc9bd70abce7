/**
 * Background replies: jobs of a provider. A model call owns the jobs that it has begun. Each attempt asks for the job of its model instead
 * of beginning another one, and the call cancels jobs that it no longer needs. The reply that names a job is recorded like any reply, so a
 * replay asks for the same job.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import { leavesOf } from "../model/ModelCall.ts"
import { interrupted } from "./booking.ts"
import type { Attempting, Calling, Job, Prefix } from "./modelCallState.ts"

/** The provider item of a paused reply that has no content but the name of its job. */
export const itemOf = ({ content, finish }: Message.Reply): Message.ProviderItem | undefined => {
  if (finish !== "paused") return undefined
  const item = content.find((part) => part.type === "provider-item" && part.kind === kind)
  return item?.type === "provider-item" ? item : undefined
}

/** The kind of the item that names a job. */
const kind = "background_job"

/** Whether a call of this model may begin a job that can be cancelled. */
export const mayBegin = (model: Model.Service): boolean =>
  leavesOf(model).some(({ background }) => background !== undefined)

/** The request of an attempt, with a callback for the job that the provider begins. */
export const requestOf = (call: Calling, attempting: Attempting): Model.Request => {
  const { model, request } = attempting
  const job = call.jobs?.get(model)
  const asked = job === undefined ? request : named(job)
  if (model.background === undefined) return asked
  const background = { begun: (item: Message.ProviderItem) => begun(call, attempting, item) }
  return { ...asked, background: job?.isFound === true ? { ...background, isFound: true } : background }
}

const named = ({ message, request }: Job): Model.Request => ({ ...request, messages: [...request.messages, message] })

/** Notes the job that the provider has begun. It may replace a job that was cancelled. */
const begun = (call: Calling, attempting: Attempting, item: Message.ProviderItem): void =>
  note(call, attempting, item, { isFound: false, isRecorded: false })

/** Notes the job that a reply names, if the callback has not noted it before. */
export const replied = (call: Calling, attempting: Attempting, item: Message.ProviderItem): void =>
  note(call, attempting, item, { isFound: call.jobs?.has(attempting.model) !== true, isRecorded: true })

/** The same model, each of whose replies is recorded as a step of a durable run. */
export const recording = (call: Calling, model: Model.Service): Model.Service => {
  if (model.background === undefined) return model
  const replied = Effect.sync(() => {
    const job = call.jobs?.get(model)
    if (job !== undefined) job.isRecorded = true
  })
  return {
    ...model,
    generate: (request) => Effect.tap(model.generate(request), () => replied),
    stream: (request) => Stream.tap(model.stream(request), ({ type }) => (type === "finish" ? replied : Effect.void))
  }
}

const note = (
  call: Calling,
  { model, request }: Attempting,
  item: Message.ProviderItem,
  state: Pick<Job, "isFound" | "isRecorded">
): void => {
  call.jobs ??= new Map()
  const before = call.jobs.get(model)
  const message = Message.settle({ content: [item], finish: "paused", usage: Usage.empty }, [])
  const of = before ?? { request, base: call.prefix }
  call.jobs.set(model, { shown: of.base?.text ?? "", ...of, message, ...state })
}

/** Whether another model has added to the text that the reader has seen. The job does not know that text. */
export const isBehind = ({ shown }: Job, prefix: Prefix | undefined): boolean =>
  prefix !== undefined && !shown.startsWith(prefix.text)

/** Cancels the job of a model, if there is one. A suspended durable run leaves it: the next process finds the job in the records. */
export const cancelled = (call: Calling, model: Model.Service): Effect.Effect<Usage.Usage | undefined> =>
  Effect.withFiber((fiber) => {
    const job = call.jobs?.get(model)
    const { background } = model
    call.jobs?.delete(model)
    if (job === undefined || background === undefined) return Effect.undefined
    const cancel = () => background.cancel(named(job))
    if (fiber.getRef(Interception.Current)?.isLeft?.() === true) return job.isRecorded ? Effect.undefined : cancel()
    return Interception.step(() => ({ type: "job cancel", model: model.name }), cancel)
  })

/** Cancels all jobs of the call. What a job has cost since its last attempt is booked as one more attempt. */
export const leave = (call: Calling): Effect.Effect<unknown> | undefined =>
  call.jobs === undefined ? undefined : Effect.forEach([...call.jobs.keys()], (model) => left(call, model))

/** Cancels the job of this model. */
export const left = (call: Calling, model: Model.Service): Effect.Effect<void> =>
  Effect.flatMap(cancelled(call, model), (usage = Usage.empty) => {
    if (Usage.total(usage) === 0) return Effect.void
    const { options, request } = call
    const { attempts: before, shown } = call.state
    const attempts = before + 1
    const state: Attempting = { type: "Attempting", attempts, shown, model, request, spent: { usage } }
    call.state = state
    const { name, provider } = model
    return RunContext.begin(
      options.run,
      () => ({ type: "model-start", model: name, provider, attempt: attempts }),
      interrupted(call, state)
    )
  })
