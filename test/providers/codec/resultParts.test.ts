/** Which images and files the results of tools may carry. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { isPdf, isPlainImage, isTextFile, shownParts } from "../../../packages/providers/src/codec/resultParts.ts"

const data = "AQID"
const kinds = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "application/pdf", "text/csv"]

it("a plain image, a PDF and a text file are known by their type and their format", () => {
  const taken = (takes: typeof isPdf, of: typeof Message.image | typeof Message.file) =>
    kinds.filter((kind) => takes(of(kind, { data })))
  assert.deepStrictEqual(taken(isPlainImage, Message.image), kinds.slice(0, 4))
  assert.deepStrictEqual(taken(isPlainImage, Message.file), [])
  assert.deepStrictEqual(taken(isPdf, Message.file), ["application/pdf"])
  assert.deepStrictEqual(taken(isPdf, Message.image), [])
  assert.deepStrictEqual(taken(isTextFile, Message.file), ["text/csv"])
  assert.deepStrictEqual(taken(isTextFile, Message.image), [])
})

it("they are carried as bytes, from the web or from the store of the provider; a text file only as bytes", () => {
  const pdf = (given: Parameters<typeof Message.file>[1]) => isPdf(Message.file("application/pdf", given))
  const text = (given: Parameters<typeof Message.file>[1]) => isTextFile(Message.file("text/plain", given))
  const [web, bare] = [{ url: "https://a.test/a" }, { url: "http://a.test/a" }]
  assert.deepStrictEqual([{ data }, web, bare, { url: "file_1" }].map(pdf), [true, true, true, true])
  assert.deepStrictEqual([{ data: "" }, { url: "s3://b/k" }].map(pdf), [false, false])
  assert.deepStrictEqual([{ data }, { data: "" }, web, { url: "file_1" }].map(text), [true, false, false, false])
})

it("a result shows its parts if each can be carried and one is no text; a failed one never does", () => {
  const png = Message.image("image/png", { data })
  const parts = [Message.text("Here"), png]
  const shown = (kind: "result" | "told", ...parts: NonNullable<Message.Settlement["parts"]>) =>
    shownParts({ kind, text: "described", parts }, isPlainImage)
  assert.deepStrictEqual(shown("result", ...parts), parts)
  assert.isUndefined(shown("told", ...parts))
  assert.isUndefined(shown("result", Message.text("Here")))
  assert.isUndefined(shown("result", ...parts, Message.file("application/pdf", { data })))
  assert.isUndefined(shownParts({ kind: "result", text: "described" }, isPlainImage))
})
