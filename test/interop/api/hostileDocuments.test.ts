/** OpenAPI documents that make small things large. */
import { assert, it } from "@effect/vitest"
import * as DocumentTools from "@kintsugi/interop/DocumentTools"
import { Effect } from "effect"
import { documentOf } from "./_support/pets.ts"

const made = (document: object) => DocumentTools.fromDocument(document, { name: "p", hosts: ["http://api.pets.test"] })

it.effect("a long reference is followed once, however many parts of the document have it [P1390 P1796]", () =>
  Effect.gen(function* () {
    for (const [target, isFound] of [
      [{ c: { get: { operationId: "things" } } }, true],
      [{}, false]
    ] as const) {
      let asked = 0
      const far = {
        get a() {
          asked++
          return { b: target }
        }
      }
      const paths = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`/p${n}`, { $ref: "#/far/a/b/c" }]))
      const { refused, tools } = yield* made(documentOf({}, { paths, far }))
      assert.lengthOf(tools, 0)
      assert.lengthOf(refused, 50)
      // operations of one id are refused too
      assert.deepInclude(refused[49], {
        reason: isFound ? "operation" : "reference",
        pointer: isFound ? "#/far/a/b/c/get" : "#/paths/~1p49"
      })
      // the depth of the document is checked before
      assert.isAtMost(asked, 2)
    }
  })
)

it.effect("a path has each parameter once, so no argument is multiplied [P1390 P1796]", () =>
  Effect.gen(function* () {
    const parameters = ["a", "b"].map((name) => ({ in: "path", name, schema: { type: "string" } }))
    const ofPath = (path: string) => made(documentOf({}, { paths: { [path]: { get: { parameters } } } }))
    const { refused, tools } = yield* ofPath("/{a}/x{b}{a}")
    assert.lengthOf(tools, 0)
    assert.deepInclude(refused[0], { _tag: "ApiDocumentError", reason: "unsupported" })
    assert.lengthOf((yield* ofPath("/{a}/x{b}")).tools, 1)
    const missing = (yield* ofPath("/{a}/{c}")).refused[0]
    assert.include(missing?.message, "does not declare the parameter 'c' of the path")
  })
)

it.effect("a media type that no header can have is not sent [P1797]", () =>
  Effect.gen(function* () {
    const ofType = (type: string) => made(documentOf({ requestBody: { required: true, content: { [type]: {} } } }))
    for (const type of ["x/y\r\nx-evil: 1+json", "x/é+json", "x y+json"]) {
      const { refused, tools } = yield* ofType(type)
      assert.lengthOf(tools, 0)
      assert.deepInclude(refused[0], { _tag: "ApiDocumentError", reason: "unsupported" })
    }
    assert.lengthOf((yield* ofType("application/vnd.pets.v1+json; charset=utf-8")).tools, 1)
  })
)
