/** How tools are found by words. */
import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@kintsugi/core"
import { Effect } from "effect"
import { bm25 } from "../../../packages/core/src/tool/bm25.ts"

const spec = (name: string, description: string, fields: Readonly<Record<string, string>> = {}): Message.ToolSpec => ({
  name,
  description,
  parameters: {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(fields).map(([field, about]) => [field, { type: "string", description: about }])
    )
  }
})

const found = (query: string, ...tools: ReadonlyArray<Message.ToolSpec>) => Effect.runSync(bm25(tools)(query))

describe("a search by words", () => {
  it("finds words of names, descriptions and parameters, in any case and number, and no tool without one [P1385]", () => {
    const tools = [
      spec("createPullRequest", "Opens a change for review."),
      spec("list_invoices", "All bills.", { customer_id: "Whose bills" }),
      spec("weather", "Forecasts for a city.", { where: "The name of the town" })
    ]
    const queries: ReadonlyArray<readonly [query: string, names: ReadonlyArray<string>]> = [
      ["pull requests", ["createPullRequest"]],
      ["INVOICE", ["list_invoices"]],
      ["customer", ["list_invoices"]],
      ["which town", ["weather"]],
      ["forecast", ["weather"]],
      ["paint pictures", []],
      ["", []],
      ["?!", []]
    ]
    for (const [query, names] of queries) assert.deepStrictEqual(found(query, ...tools), names, query)
  })

  it("ranks rare words above common ones, names above descriptions, and short texts above long ones [P1385]", () => {
    const common = Array.from({ length: 20 }, (_, n) => spec(`order_${n}`, "Works on an order."))
    assert.strictEqual(found("order refund", ...common, spec("pay_back", "A refund."))[0], "pay_back")
    assert.deepStrictEqual(found("refund", spec("one", "Makes a refund."), spec("refund", "Pays back.")), [
      "refund",
      "one"
    ])
    const long = `A refund ${"and much else that has nothing to do with it ".repeat(5)}`
    assert.deepStrictEqual(found("refund", spec("one", long), spec("two", "A refund.")), ["two", "one"])
    // a text of twice the length with two of the words is the better one
    const more = `refund refund ${"word ".repeat(25)}`
    assert.deepStrictEqual(found("refund", spec("two", `refund ${"word ".repeat(9)}`), spec("one", more)), [
      "one",
      "two"
    ])
  })

  it("puts the exact name first, and keeps the order of equal tools [P1385]", () => {
    const tools = [
      spec("get_order_list", "order order order"),
      spec("order", "Nothing."),
      spec("get_order", "Nothing.")
    ]
    assert.strictEqual(found("Get_Order", ...tools)[0], "get_order")
    assert.strictEqual(found("ORDER", spec("Order_order_order", ""), spec("Order", ""))[0], "Order")
    const same = ["a", "b", "c"].map((name) => spec(name, "The same text."))
    assert.deepStrictEqual(found("text", ...same), ["a", "b", "c"])
  })

  it("finds words of writings without spaces and with accents [P1385]", () => {
    const tools = [spec("a", "金継ぎで器を直す"), spec("b", "天気予報"), spec("c", "Überweisung ausführen")]
    assert.strictEqual(found("器を直す", ...tools)[0], "a")
    assert.strictEqual(found("überweisung", ...tools)[0], "c")
  })

  it("takes an `s` for a plural behind three letters and more [P1385]", () => {
    assert.deepStrictEqual(found("ga", spec("gas", "")), [])
    assert.deepStrictEqual(found("glas", spec("glass", "")), [])
    assert.deepStrictEqual(found("map", spec("maps", "")), ["maps"])
  })

  it("searches no tools, and tools without parameters, without a failure [P1385]", () => {
    assert.deepStrictEqual(found("refund"), [])
    const parameters: ReadonlyArray<Message.ToolSpec["parameters"]> = [{}, { properties: null }, { properties: ["x"] }]
    for (const one of parameters)
      assert.deepStrictEqual(found("refund", { ...spec("refund", ""), parameters: one }), ["refund"])
  })
})
