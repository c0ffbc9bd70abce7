/** Which events of a stream have news. */
import { assert, describe, it } from "@effect/vitest"
import { Saying } from "../../../packages/providers/src/transport/saying.ts"

type Event = readonly [data: string, name?: string]

/** Whether each of these events has news, in this order. */
const news = (...events: ReadonlyArray<Event>): ReadonlyArray<boolean> => {
  const saying = new Saying()
  return events.map(([data, name]) => saying.isNew(data, name))
}

const typed = (type: string, more: object = {}): string => JSON.stringify({ type, ...more })

describe("an event", () => {
  it("with the name or the type of a keep-alive has no news [P1402]", () => {
    for (const name of ["ping", "PING", "keepalive", "keep-alive", "keep_alive", "Heartbeat"]) {
      assert.deepStrictEqual(news(["{}", name], [typed(name)], [typed(name, { delta: "a" })]), [false, false, false])
    }
    for (const name of ["pinging", "a ping", "keep--alive", "keep-alive!", "a heartbeat", ""]) {
      assert.deepStrictEqual(news(["{}", name], [typed(name)]), [true, true], name)
    }
  })

  it("has news once, if it differs from the earlier ones by more than numbers [P1402]", () => {
    assert.deepStrictEqual(
      news(
        ['{"step":"a","n":1}'],
        ['{"step":"a","n":1}'],
        ['{"step":"a","n":234}', "other"],
        ['{"step":"b","n":1}'],
        ['{"step":"a","n":5}'],
        ["no JSON"],
        ["no JSON"],
        ["null"]
      ),
      [true, false, false, true, false, true, false, true]
    )
  })

  it("that is a piece of a reply has news each time [P1402]", () => {
    for (const piece of [
      typed("response.mcp_call_arguments.delta", { delta: "1" }),
      typed("response.image_generation_call.partial_image")
    ]) {
      assert.deepStrictEqual(news([piece], [piece]), [true, true])
    }
    for (const other of [
      typed("x.delta", { delta: 1 }),
      typed("x.delta", { delta: "" }),
      typed("partial_image.done"),
      JSON.stringify({ type: 5, text: "partial_image" })
    ]) {
      assert.deepStrictEqual(news([other], [other]), [true, false], other)
    }
  })

  it("is remembered until there are more than a thousand others [P1402]", () => {
    const event = (n: number): Event => [String(n).replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)))]
    const saying = new Saying()
    for (let n = 0; n < 1000; n++) assert.isTrue(saying.isNew(...event(n)))
    assert.isFalse(saying.isNew(...event(0)))
    assert.isFalse(saying.isNew(...event(999)))
    assert.isTrue(saying.isNew(...event(1000)))
    assert.isTrue(saying.isNew(...event(0)))
    assert.isFalse(saying.isNew(...event(1000)))
  })
})
