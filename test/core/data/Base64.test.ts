import { assert, it } from "@effect/vitest"
import { base64Of, bytesIn } from "../../../packages/core/src/data/Base64.ts"

it("the bytes of an attachment are in its data or in its `data:` URL", () => {
  const cases = [
    [{ data: "QUI=" }, "QUI="],
    [{ data: "data:image/png;base64,QUI=" }, "QUI="],
    [{ url: "data:image/png;base64,QUI=" }, "QUI="],
    [{ url: "DATA:;BASE64,QUI=" }, "QUI="],
    [{ url: "data:image/png,QUI=" }, undefined],
    [{ url: "https://example.org/?of=data:image/png;base64,QUI=" }, undefined],
    // programs without types
    [{ data: 5 }, undefined],
    [{ url: undefined }, undefined],
    [{}, undefined]
  ] as const
  for (const [part, bytes] of cases) assert.strictEqual(base64Of(part), bytes)
})

it("a text in base64 has three bytes in four characters, without its padding", () => {
  assert.deepStrictEqual(["", "QQ==", "QUI=", "QUJD", "QQ"].map(bytesIn), [0, 1, 2, 3, 1])
})
