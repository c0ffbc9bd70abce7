/** An agent as endpoints and procedures: the same runs, answers and failures over both, in memory and on the loopback interface. */
import { assert, describe, it } from "@effect/vitest"
import { Approval, LlmError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Stream } from "effect"
import { agent, type Client, kinds, ways } from "./_support/served.ts"

const { call, calls, fails, make, text } = ScriptedModel

const paying = calls(call("pay", { cents: 500 }))
const waiting = calls(call("wait", {}))

/** The agent behind a script of its model, and the clients of two subjects. */
const servingBy =
  (kind: (typeof kinds)[keyof typeof kinds], way: (typeof ways)[keyof typeof ways]) =>
  (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
    Effect.gen(function* () {
      const { desk, ...rest } = yield* agent
      const model = yield* make(...steps)
      yield* kind.begin
      const clientOf = yield* way(kind.runsOf({ desk, model: model.layer }))
      return { ...rest, model, ann: yield* clientOf("ann"), bob: yield* clientOf("bob"), clientOf }
    })

const digestsOf = (ending: Effect.Success<ReturnType<Client["ask"]>>) => {
  assert(ending._tag === "Waiting", `the run has ended: ${JSON.stringify(ending)}`)
  const found = ending.waiting.flatMap((one) => (one.type === "approval" ? [one.request.digest] : []))
  assert.isDefined(found[0])
  return [found[0]!, ...found.slice(1)] as const
}

const approving = (ending: Effect.Success<ReturnType<Client["ask"]>>) => {
  const [first, ...others] = digestsOf(ending)
  const decided = (digest: string) => ({ digest, decision: Approval.approve })
  return [decided(first), ...others.map(decided)] as const
}

const facts = (error: unknown) => {
  const { _tag, code, reason, status } = Object(error)
  return Object.fromEntries(Object.entries({ _tag, code, reason, status }).filter(([, value]) => value !== undefined))
}

const refused = <A>(self: Effect.Effect<A, unknown>) => Effect.map(Effect.flip(self), facts)

const fieldsOf = (error: unknown) => ({ ...Object(error) })

const notFound = { _tag: "RunNotFoundError", status: 404 }

const all = Object.entries(kinds).flatMap(([kind, runs]) =>
  Object.entries(ways).map(([way, reach]) => ({ name: `${kind}, ${way}`, serving: servingBy(runs, reach) }))
)

for (const { name, serving } of all) {
  describe(name, () => {
    it.effect("a failure of a model has its status, and one of a tool its own class", () =>
      Effect.gen(function* () {
        const lost = LlmError.ModelNotFoundError.make({ model: "scripted" })
        const { ann } = yield* serving(fails(lost), fails(lost), calls(call("buy", {})), calls(call("buy", {})))
        const failed = { _tag: "RunFailedError", status: 502, code: "KINTSUGI-MODEL-NOT-FOUND" }
        assert.deepStrictEqual(yield* refused(ann.ask({ input: "What?", run: "one" })), failed)
        assert.deepStrictEqual(yield* refused(ann.show("one")), failed)
        const events: Array<string> = []
        const streamed = Stream.tap(ann.stream({ input: "What?" }), ({ type }) => Effect.sync(() => events.push(type)))
        assert.deepStrictEqual(yield* refused(Stream.runDrain(streamed)), failed)
        assert.strictEqual(events.at(-1), "run-failed")
        const sold = yield* Effect.flip(ann.ask({ input: "Buy." }))
        assert.deepInclude({ ...Object(sold) }, { _tag: "SoldOut", item: "a lamp" })
        assert.deepInclude(yield* refused(Stream.runDrain(ann.stream({ input: "Buy." }))), { _tag: "SoldOut" })
      })
    )

    it.effect("a client that leaves stops nothing: the same request reads the same run [P1851]", () =>
      Effect.gen(function* () {
        const { ann, model, release } = yield* serving(waiting, text("Done."))
        const asked = { input: "Wait.", run: "one" }
        const left = yield* Effect.forkChild(ann.ask(asked), { startImmediately: true })
        yield* Stream.runDrain(Stream.takeUntil(ann.stream(asked), ({ type }) => type === "tool-start"))
        yield* Fiber.interrupt(left)
        assert.deepStrictEqual(yield* ann.show("one"), { _tag: "AtWork", run: "one" })
        yield* release
        const ending = yield* ann.ask(asked)
        assert.deepInclude({ ...ending }, { _tag: "Answered", run: "one", output: "Done." })
        assert.deepStrictEqual(yield* ann.show("one"), ending)
        assert.strictEqual(model.requests.length, 2)
        assert.deepStrictEqual(yield* refused(ann.ask({ ...asked, input: "Other." })), {
          _tag: "RunConflictError",
          reason: "other-input",
          status: 409
        })
      })
    )

    it.effect(
      "a reader that was cut off goes on at its cursor, and one with another cursor does not [P1850 P1851]",
      () =>
        Effect.gen(function* () {
          const { ann, release } = yield* serving(waiting, text("Done."), text("Other."))
          const had = yield* Stream.runCollect(
            Stream.takeUntil(ann.stream({ input: "Wait.", run: "one" }), ({ type }) => type === "tool-start")
          )
          const reading = yield* Effect.forkChild(Stream.runCollect(ann.events("one", had.at(-1)?.cursor)))
          yield* release
          const rest = yield* Fiber.join(reading)
          assert.deepStrictEqual([...had, ...rest], yield* Stream.runCollect(ann.events("one")))
          const other = yield* Stream.runCollect(ann.stream({ input: "What?", run: "two" }))
          const at = other.at(-1)?.cursor
          assert.deepStrictEqual(yield* refused(Stream.runDrain(ann.events("one", at))), notFound)
          assert.deepStrictEqual(yield* refused(Stream.runDrain(ann.events("one", "no cursor"))), {
            _tag: "UnfitRequestError",
            status: 422
          })
          assert.deepStrictEqual(yield* Stream.runCollect(ann.events("two", at)), [])
        })
    )

    it.effect(
      "a run of another subject is unknown to each endpoint, at work, while it waits, and after its end [P1850]",
      () =>
        Effect.gen(function* () {
          const { ann, bob, paid } = yield* serving(text("Over."), paying, waiting, text("Paid."))
          const declared = { type: "urn:kintsugi:error:run-not-found", title: "There is no such run", status: 404 }
          yield* ann.ask({ input: "What?", run: "over" })
          const ending = yield* ann.ask({ input: "Pay.", run: "waits" })
          yield* Stream.runDrain(
            Stream.takeUntil(ann.stream({ input: "Wait.", run: "works" }), ({ type }) => type === "tool-start")
          )
          for (const run of ["over", "waits", "works"]) {
            const [mine] = yield* Stream.runCollect(Stream.take(ann.events(run), 1))
            const before = yield* ann.show(run)
            const unknown = [
              bob.show(run),
              Stream.runDrain(bob.events(run)),
              Stream.runDrain(bob.events(run, mine?.cursor)),
              bob.decide(run, approving(ending)),
              bob.say(run, "Hello?"),
              bob.stop(run)
            ]
            assert.deepStrictEqual(
              yield* Effect.forEach(unknown, (request) => Effect.map(Effect.flip(request), fieldsOf)),
              unknown.map(() => ({ ...declared, run }))
            )
            assert.deepStrictEqual(yield* ann.show(run), before)
          }
          // the same id is another run
          const [mine] = yield* Stream.runCollect(Stream.take(ann.events("waits"), 1))
          assert.deepInclude(
            { ...(yield* bob.ask({ input: "Pay.", run: "waits" })) },
            { _tag: "Answered", output: "Paid." }
          )
          assert.deepStrictEqual(yield* refused(Stream.runDrain(bob.events("waits", mine?.cursor))), notFound)
          assert.deepStrictEqual(yield* ann.show("waits"), ending)
          yield* ann.stop("works")
          assert.deepStrictEqual(paid, [])
        })
    )

    it.effect("a decision counts once [P1533]", () =>
      Effect.gen(function* () {
        const { ann, paid } = yield* serving(paying, text("Paid."))
        const ending = yield* ann.ask({ input: "Pay.", run: "one" })
        assert.deepStrictEqual(yield* ann.show("one"), ending)
        const other = [{ digest: "another", decision: Approval.approve }] as const
        const conflict = { _tag: "RunConflictError", status: 409 }
        assert.deepStrictEqual(yield* refused(ann.decide("one", other)), { ...conflict, reason: "not-counted" })
        const answered = yield* ann.decide("one", approving(ending))
        assert.deepInclude({ ...answered }, { _tag: "Answered", output: "Paid." })
        assert.deepStrictEqual(yield* refused(ann.decide("one", approving(ending))), { ...conflict, reason: "over" })
        assert.deepStrictEqual(paid, [500])
      })
    )

    it.effect("a message is read once, and none after the end", () =>
      Effect.gen(function* () {
        const { ann, model, release } = yield* serving(waiting, text("Done."))
        const started = (run: string) =>
          Stream.runDrain(Stream.takeUntil(ann.stream({ input: "Wait.", run }), ({ type }) => type === "tool-start"))
        yield* started("one")
        yield* ann.say("one", "Hurry.", "said-1")
        yield* ann.say("one", "Hurry.", "said-1")
        yield* release
        assert.deepInclude({ ...(yield* ann.ask({ input: "Wait.", run: "one" })) }, { _tag: "Answered" })
        assert.strictEqual(JSON.stringify(model.requests[1]?.messages).split("Hurry.").length, 2)
        const over = { _tag: "RunConflictError", reason: "over", status: 409 }
        assert.deepStrictEqual(yield* refused(ann.say("one", "Too late.")), over)
        yield* ann.stop("one")
        assert.deepInclude({ ...(yield* ann.show("one")) }, { _tag: "Answered" })
      })
    )

    it.effect("a run that was stopped has no answer", () =>
      Effect.gen(function* () {
        const { ann, stopped } = yield* serving(waiting)
        const events = yield* Effect.forkChild(Stream.runCollect(ann.stream({ input: "Wait.", run: "one" })))
        yield* Stream.runDrain(
          Stream.takeUntil(ann.stream({ input: "Wait.", run: "one" }), ({ type }) => type === "tool-start")
        )
        yield* ann.stop("one")
        yield* stopped
        assert.strictEqual((yield* Fiber.join(events)).at(-1)?.type, "run-interrupted")
        assert.deepStrictEqual(yield* refused(ann.show("one")), {
          _tag: "RunConflictError",
          reason: "stopped",
          status: 409
        })
      })
    )

    it.effect("the token of a deferred call is for the server alone [P1852]", () =>
      Effect.gen(function* () {
        const { ann, tokens } = yield* serving(calls(call("order", {})))
        const ending = yield* ann.ask({ input: "Order.", run: "one" })
        const events = yield* Stream.runCollect(
          Stream.takeUntil(ann.events("one"), ({ type }) => type === "tool-waiting")
        )
        const [token = "no token"] = tokens
        assert.isAbove(token.length, 20)
        const waiting = ending._tag === "Waiting" ? ending.waiting : []
        assert.deepStrictEqual(
          waiting.map(({ type }) => type),
          ["deferred"]
        )
        assert.notInclude(JSON.stringify([ending, events]), token)
      })
    )

    // Finds out nothing of its own: the middleware of the program refuses before any code of ours runs
    it.effect("a request without a subject is refused by each endpoint [P1852]", () =>
      Effect.gen(function* () {
        const { clientOf, model } = yield* serving()
        const none = yield* clientOf("none")
        const decisions = [{ digest: "any", decision: Approval.approve }] as const
        const all = [
          none.ask({ input: "What?" }),
          Stream.runDrain(none.stream({ input: "What?" })),
          none.show("one"),
          Stream.runDrain(none.events("one")),
          none.decide("one", decisions),
          none.say("one", "Hello?"),
          none.stop("one")
        ]
        const declared = { type: "urn:kintsugi:error:unauthorized", title: "The request needs valid credentials" }
        assert.deepStrictEqual(
          yield* Effect.forEach(all, (request) => Effect.map(Effect.flip(request), fieldsOf)),
          all.map(() => ({ ...declared, status: 401 }))
        )
        assert.strictEqual(model.requests.length, 0)
      })
    )
  })
}
