/** The paths of the operations of OpenAPI documents. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import * as DocumentTools from "@kintsugi/interop/DocumentTools"
import { Effect } from "effect"
import { documentOf } from "./_support/pets.ts"
import { served } from "./_support/shop.ts"

const hosts = ["api.pets.test"]

/** The tools of one path, which are its operations without side effects. */
const ofPath = (path: string, operation: object = {}) =>
  DocumentTools.fromDocument(documentOf({}, { paths: { [path]: { get: operation } } }) as object, {
    name: "p",
    hosts,
    baseUrl: "https://api.pets.test/v1/public"
  })

it.effect("no path of a document leads out of the address of the API, and no argument out of its segment [P1793]", () =>
  Effect.gen(function* () {
    for (const path of ["/a/../../admin", "/a/%2e%2E/b", "/./a", "/a\\..\\b", "/.\t./b"]) {
      const { refused, tools } = yield* ofPath(path)
      assert.lengthOf(tools, 0)
      assert.deepInclude(refused[0], { _tag: "ApiDocumentError", reason: "unsupported" })
    }
    const { asked, layer } = served(() => Response.json("here"))
    const id = { in: "path", name: "id", schema: { type: "string" } }
    const [tool] = (yield* ofPath("/a/%2e{id}/z", { parameters: [id] })).tools
    assert(tool !== undefined)
    const call = (value: string) => Tool.call(tool, { params: { id: value } }).pipe(Effect.provide(layer))
    assert.deepInclude(yield* Effect.flip(call(".")), { category: "parameter", recovery: "repair" })
    assert.deepInclude(yield* Effect.flip(call("")), { category: "parameter", recovery: "repair" })
    assert.strictEqual(yield* call("x"), "here")
    assert.deepStrictEqual(
      asked.map(({ path }) => path),
      ["/v1/public/a/%2ex/z"]
    )
  })
)
