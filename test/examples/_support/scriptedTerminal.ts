/** A terminal without a person: what is typed and pressed comes from the test, what is shown stays on its screen. */
import { type Cause, Effect, Layer, Option, Queue, Stream, SubscriptionRef, Terminal } from "effect"

type Keys = Queue.Queue<Terminal.UserInput, Cause.Done>

export const make = Effect.gen(function* () {
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  const screen = yield* SubscriptionRef.make("")
  const readers = new Set<Keys>()
  const terminal = Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Effect.die(new Error("no program reads its size")),
    readLine: Effect.mapError(Queue.take(lines), () => new Terminal.QuitError({})),
    readInput: Effect.acquireRelease(
      Effect.tap(Queue.unbounded<Terminal.UserInput, Cause.Done>(), (keys) => Effect.sync(() => readers.add(keys))),
      (keys) => Effect.sync(() => readers.delete(keys))
    ),
    display: (text) => SubscriptionRef.update(screen, (shown) => shown + text)
  })
  const toReaders = (act: (keys: Keys) => void) => Effect.sync(() => readers.forEach(act))
  return {
    layer: Layer.succeed(Terminal.Terminal, terminal),
    /** Lines, one for each time that the program asks. */
    type: (...typed: ReadonlyArray<string>) => Queue.offerAll(lines, typed),
    /** A key, for the present reader of keys. */
    press: (name: string, ctrl = false) =>
      toReaders((keys) => {
        Queue.offerUnsafe(keys, { input: Option.none(), key: { name, ctrl, meta: false, shift: false } })
      }),
    /** The end of the input: for those who read lines once all are read, for those who read keys at once. */
    end: Effect.andThen(
      toReaders((keys) => Queue.endUnsafe(keys)),
      Queue.end(lines)
    ),
    /** How many read keys now: with one or more, a real terminal shows nothing of what is typed. */
    reading: Effect.sync(() => readers.size),
    shown: SubscriptionRef.get(screen),
    /** Waits until this is on the screen. */
    until: (text: string) =>
      SubscriptionRef.changes(screen).pipe(
        Stream.takeUntil((shown) => shown.includes(text)),
        Stream.runDrain
      )
  }
})
