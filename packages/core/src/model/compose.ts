/** Composed models, and models with code around each of their calls. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { LlmError } from "../errors/LlmError.ts"
import * as Returned from "../data/Returned.ts"
import type * as Message from "../data/Message.ts"
import type { Asker, Attempting, Choosing, Strategy, Surrounding } from "./parts.ts"
import { collected, Collector, compositionOf, marked, partsOf, streamed } from "./parts.ts"
import { Attempts } from "../recovery/Attempts.ts"
import { explained, explaining, type Explains, inTurn, uncounted } from "../recovery/Explained.ts"
import { ask, cutOff, generate, named, refused, stream } from "./ModelCall.ts"
import type { Part, Request, Service } from "./service.ts"

/** Makes one model of several members. The strategy decides which members a call uses. */
export const compose = (members: ReadonlyArray<Service>, strategy: Strategy, explains: Explains): Service => {
  const service: Service = {
    name: [...new Set(members.map(({ name }) => name))].join(" or "),
    provider: [...new Set(members.map(({ provider }) => provider))].join(" or "),
    generate: (request) => Effect.suspend(() => strategy(request, askerOf(whole))),
    stream: (request) => Stream.unwrap(Effect.suspend(() => strategy(request, askerOf(opening))))
  }
  return explaining(marked(service, { members, strategy }), explains)
}

type Way<A, R> = Omit<Asker<A, R>, "compactions" | "extra">

const askerOf = <A, R>(way: Way<A, R>): Asker<A, R> => ({ ...way, compactions: { made: 0 }, extra: { made: 0 } })

/** The worst case of several models or layers: all of them are called. */
export const explainsAll =
  (models: ReadonlyArray<unknown>): Explains =>
  (errors) =>
    inTurn(models.map((model) => explained(model, errors)))

/** Surrounds each call of a model with code. A composed model stays composed, so a run still calls each of its members by itself. */
export const around = (model: Service, given: Surrounding): Service => {
  const surrounding: Surrounding = {
    generate: (...asked) => Returned.effect(given.generate(...asked), "The generate of Model.around"),
    stream: (...asked) => streamed(given.stream(...asked), "The stream of Model.around")
  }
  const service: Service = {
    ...model,
    generate: (request) => {
      const reply = Effect.suspend(() => generate(model, request))
      return surrounding.generate(reply, request, model)
    },
    stream: (request) => {
      const parts = Stream.suspend(() => stream(model, request))
      return surrounding.stream(parts, request, model)
    }
  }
  const composition = compositionOf(model)
  if (composition === undefined) return service
  const { members, strategy } = composition
  const composed = marked(service, {
    members,
    strategy: (request, asker) => asker.within(service, strategy(request, asker), surrounding, request)
  })
  return explaining(composed, (errors) => explained(model, errors))
}

/** Surrounds the attempts of a model with a function. Each attempt counts: a run emits events and a ledger entry for it. */
export const attempting = (model: Service, f: Attempting): Service =>
  chosen([model], (each, request) => f(each(model), request, model), "The function of Model.around")

/** A model whose function calls its members, one after the other: a run books one attempt at a time. */
export const choosing = (members: ReadonlyArray<Service>, choose: Choosing): Service =>
  chosen(
    members,
    (ask, request) => {
      let atWork = 0
      const done = Effect.sync(() => {
        atWork = 0
      })
      return choose(
        (model) =>
          Effect.suspend(() =>
            atWork++ > 0
              ? Effect.die(new TypeError("Model.compose: two attempts at once"))
              : Effect.ensuring(ask(model), done)
          ),
        request
      )
    },
    "The function of Model.compose"
  )

/** A model whose function makes attempts of its members. Each of them counts. */
const chosen = (members: ReadonlyArray<Service>, choose: Choosing, whose: string): Service =>
  compose(
    members,
    <A, R>(request: Request, asker: Asker<A, R>) =>
      Effect.suspend(() => {
        const attempts = new Attempts(asker.extra)
        attempts.begin(1 + asker.extra.made)
        const each = (model: Service) =>
          attempts.each({
            attempt: () => ask(model, request, asker),
            // no further attempt is made after a reader has seen a part of the reply
            isPassing: () => asker.isShown()
          })
        return attempts.run(Returned.effect(choose(each, request), whose))
      }),
    (errors) => uncounted(explainsAll(members)(errors))
  )

const whole: Way<Message.Reply, never> = {
  ask: (model, request) =>
    Effect.flatMap(
      Effect.suspend(() => generate(model, request)),
      (reply) => {
        const refusal = refused(model, reply)
        return refusal === undefined ? Effect.succeed(named(model, collected(reply))) : Effect.fail(refusal)
      }
    ),
  given: (reply) => reply,
  isShown: () => false,
  within: (model, call, { generate }, request) => generate(call, request, model)
}

/** Makes streamed attempts. An attempt succeeds with the first text, thought or call, because a reader then sees a part of the reply. */
const opening: Way<Stream.Stream<Part, LlmError>, Scope.Scope> = {
  ask: (model, request) => opened(model, parts(model, request)),
  given: (reply) => Stream.fromArray(partsOf(reply)),
  isShown: () => false,
  within: (model, call, { stream }, request) => opened(model, stream(Stream.unwrap(call), request, model))
}

/** Pulls from a stream until it has a text, thought or call. Fails if the stream has no parts. */
const opened = (
  model: Service,
  stream: Stream.Stream<Part, LlmError>
): Effect.Effect<Stream.Stream<Part, LlmError>, LlmError, Scope.Scope> =>
  Effect.flatMap(Effect.flatMap(Effect.scope, Scope.fork), (scope) => {
    const opening = Effect.flatMap(Scope.provide(Stream.toPull(stream), scope), (pull) => {
      const collector = new Collector()
      const held: Array<Part> = []
      const take = Effect.map(pull, (parts) => {
        for (const part of parts) collector.push(part)
        held.push(...parts)
        return collector.isShown
      })
      const rest = Effect.as(
        Effect.repeat(take, { until: (isShown) => isShown }),
        Stream.fromPull(Effect.succeed(pull))
      )
      const ending = Pull.catchDone(rest, () =>
        held.length === 0 ? Effect.fail(cutOff(model)) : Effect.succeed(Stream.empty)
      )
      return Effect.map(ending, (rest) => Stream.concat(Stream.fromArray(held), rest))
    })
    return Effect.onExit(opening, (exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
  })

/** The parts of one model up to its `finish` part. An error of the stream or a filtered reply is a failure with the text so far. */
const parts = (model: Service, request: Request): Stream.Stream<Part, LlmError> =>
  Stream.suspend(() => {
    const collector = new Collector()
    const seen = Stream.mapEffect(
      Stream.takeUntil(stream(model, request), ({ type }) => type === "finish"),
      (part): Effect.Effect<Part, LlmError> => {
        collector.push(part)
        const reply = collector.reply()
        if (part.type !== "finish" || reply === undefined) return Effect.succeed(part)
        const refusal = refused(model, reply)
        return refusal === undefined
          ? Effect.succeed({ ...part, model: part.model ?? model.name })
          : Effect.fail(refusal)
      }
    )
    const end = Stream.suspend(() => (collector.reply() === undefined ? Stream.fail(cutOff(model)) : Stream.empty))
    return Stream.mapError(Stream.concat(seen, end), (error) => collector.broken(error))
  })
