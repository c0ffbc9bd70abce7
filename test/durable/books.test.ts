/** What agents within a step have spent: it is booked with each run that the step belongs to, and stored once. */
import { assert, it } from "@effect/vitest"
import { Ledger, Usage } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { Effect, Option } from "effect"
import { Books, decodeSpent, encodeSpent, rebook, spentOf } from "../../packages/durable/src/books.ts"

const entry = (inputTokens: number) =>
  // an entry with only what the books read
  ({ usage: Usage.make({ inputTokens }) }) as unknown as Ledger.Entry

/** A run with a ledger of its own. */
const running = () => {
  const ledger = new Ledger.Ledger()
  // nothing but the ledger is used
  return { ledger, run: { ledger } as unknown as RunContext.RunContext }
}

const [one, two, three] = [entry(1), entry(2), entry(3)] as const

it.effect(
  "what a step spends is booked with its run and stored, once, and with the next run if it is not stored [P1133]",
  () =>
    Effect.gen(function* () {
      const books = new Books()
      const [first, second] = [running(), running()]
      const spending = Effect.map(Effect.serviceOption(RunContext.Current), (current) => {
        const found = Option.getOrUndefined(current)
        found?.ledger.record(one)
        return found?.ledger
      })
      assert.strictEqual(yield* books.keep(first.run, spending), books)
      assert.deepStrictEqual([books.entries, first.ledger.entries], [[one], []])
      books.attach(first.run)
      books.attach(first.run)
      books.record(two)
      assert.deepStrictEqual(first.ledger.entries, [one, two])
      assert.deepStrictEqual(books.entries, [one, two])
      assert.deepStrictEqual(spentOf(books), { ledger: [one, two] })
      books.record(three)
      books.attach(second.run)
      assert.deepStrictEqual(second.ledger.entries, [three])
      assert.deepStrictEqual(spentOf(books), { ledger: [three] })
      assert.deepStrictEqual([spentOf(books), spentOf(undefined)], [{}, {}])
    })
)

it("restored entries reach the run as well [P1133]", () => {
  const books = new Books()
  const { ledger, run } = running()
  books.attach(run)
  books.restore([one])
  assert.deepStrictEqual([books.entries, ledger.entries], [[one], [one]])
})

it("a replay books what is stored with its run, if it has one [P1133]", () => {
  const { ledger, run } = running()
  rebook(run, [one, two])
  rebook(run, undefined)
  rebook(undefined, [three])
  assert.deepStrictEqual(ledger.entries, [one, two])
})

it.effect("nothing spent is an empty row [P1133]", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* encodeSpent({}), {})
    assert.deepStrictEqual(yield* decodeSpent({ ledger: [] }), { ledger: [] })
    yield* Effect.flip(decodeSpent({ ledger: 7 }))
  })
)
