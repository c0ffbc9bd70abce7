/** What differs between the versions of the AI SDK's specification, and which addresses of files a model takes. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Effect } from "effect"
import { check } from "../../../packages/interop/src/ai-sdk/urls.ts"
import { fileOf, givenBy, speaking } from "../../../packages/interop/src/ai-sdk/versions.ts"

const url = "https://a.test/a"

const image = {
  bytes: Message.image("image/png", { data: "AAAA" }),
  url: Message.image("image/png", { url }),
  id: Message.image("image/png", { url: "file-1" })
}

const file = {
  bytes: Message.file("a/b", { data: "AAAA" }, "n"),
  url: Message.file("a/b", { url }, "n"),
  id: Message.file("a/b", { url: "file-1" }, "n")
}

describe("a file", () => {
  it("is given as bytes, at an address or by an id [P1381]", () => {
    assert.deepStrictEqual(givenBy(image.bytes), { way: "data", data: "AAAA" })
    assert.deepStrictEqual(givenBy({ ...image.url, url: "data:image/png;base64,BBBB" }), { way: "data", data: "BBBB" })
    assert.deepStrictEqual(givenBy(image.url), { way: "url", url })
    assert.deepStrictEqual(givenBy(file.id), { way: "id", id: "file-1" })
  })

  it("of a message has the form of its version [P1381]", () => {
    for (const version of ["v2", "v3"] as const) {
      const { data } = speaking[version]
      assert.strictEqual(data(image.bytes, "p"), "AAAA")
      assert.deepStrictEqual(data(image.url, "p"), new URL(url))
      assert.strictEqual(data(image.id, "p"), "file-1")
    }
    const { data } = speaking.v4
    assert.deepStrictEqual(data(image.bytes, "p"), { type: "data", data: "AAAA" })
    assert.deepStrictEqual(data(image.url, "p"), { type: "url", url: new URL(url) })
    assert.deepStrictEqual(data(image.id, "p"), { type: "reference", reference: { p: "file-1" } })
  })

  it("of a result has the form of its version, if there is one [P1376 P1381]", () => {
    const { v2, v3, v4 } = speaking
    assert.deepStrictEqual(v2.shown(image.bytes, "p"), { type: "media", data: "AAAA", mediaType: "image/png" })
    for (const one of [image.url, image.id, file.url]) assert.isUndefined(v2.shown(one, "p"))
    assert.deepStrictEqual(v3.shown(image.bytes, "p"), { type: "image-data", data: "AAAA", mediaType: "image/png" })
    assert.deepStrictEqual(v3.shown(image.url, "p"), { type: "image-url", url })
    assert.deepStrictEqual(v3.shown(image.id, "p"), { type: "image-file-id", fileId: "file-1" })
    assert.deepStrictEqual(v3.shown(file.bytes, "p"), {
      type: "file-data",
      data: "AAAA",
      mediaType: "a/b",
      filename: "n"
    })
    assert.deepStrictEqual(v3.shown(file.url, "p"), { type: "file-url", url })
    assert.deepStrictEqual(v3.shown(file.id, "p"), { type: "file-id", fileId: "file-1" })
    assert.deepStrictEqual(v4.shown(image.bytes, "p"), {
      type: "file",
      data: { type: "data", data: "AAAA" },
      mediaType: "image/png"
    })
    assert.deepStrictEqual(v4.shown(file.id, "p"), {
      type: "file",
      data: { type: "reference", reference: { p: "file-1" } },
      mediaType: "a/b",
      filename: "n"
    })
    assert.deepStrictEqual(v4.shown(Message.file("a/b", { data: "AAAA" }), "p"), {
      type: "file",
      data: { type: "data", data: "AAAA" },
      mediaType: "a/b"
    })
  })

  it("that a model has made has bytes or an address, in the form of each version [P1381]", () => {
    const of = (data: Parameters<typeof fileOf>[0][string]) => fileOf({ mediaType: "a/b", data })
    assert.deepStrictEqual(of("AAAA"), Message.file("a/b", { data: "AAAA" }))
    assert.deepStrictEqual(of(""), Message.file("a/b", { data: "" }))
    assert.deepStrictEqual(of({ type: "data", data: "AAAA", url }), Message.file("a/b", { data: "AAAA" }))
    assert.deepStrictEqual(of({ type: "url", url }), Message.file("a/b", { url }))
    for (const data of [null, 5, {}, { data: 5 }, { url: 5 }]) assert.isUndefined(of(data))
    assert.isUndefined(fileOf({ mediaType: 5, data: "AAAA" }))
    assert.isUndefined(fileOf({ data: "AAAA" }))
  })

  it("of a thought and a part of one provider are only in version 4 [P1381]", () => {
    const thought = { type: "reasoning-file", mediaType: "a/b", data: "AAAA", more: 1 }
    const custom = { type: "custom", kind: "a.b", more: 1 }
    for (const version of ["v2", "v3"] as const)
      for (const part of [thought, custom]) assert.isUndefined(speaking[version].further(part))
    const { further } = speaking.v4
    assert.deepStrictEqual(further(custom), { type: "custom", kind: "a.b" })
    assert.deepStrictEqual(further(thought), {
      type: "reasoning-file",
      mediaType: "a/b",
      data: { type: "data", data: "AAAA" }
    })
    assert.deepStrictEqual(further({ ...thought, data: { url } }), {
      type: "reasoning-file",
      mediaType: "a/b",
      data: { type: "url", url: new URL(url) }
    })
    const others = [
      { ...thought, data: { url: "file-1" } },
      { ...thought, data: 5 },
      { ...thought, type: "file" }
    ]
    for (const odd of [...others, { ...custom, kind: "ab" }, { ...custom, kind: 5 }, { ...custom, type: "x" }])
      assert.isUndefined(further(odd))
  })
})

it("a tool that the provider runs has the type of its version [P1381]", () => {
  assert.deepStrictEqual(
    [speaking.v2.providerTool, speaking.v3.providerTool, speaking.v4.providerTool],
    ["provider-defined", "provider", "provider"]
  )
})

describe("the addresses of a request", () => {
  /** What the check of a file says, with the media types and addresses that the model takes. */
  const checked = (supported: unknown, parts: Message.UserContent) =>
    Effect.promise(async () => {
      try {
        await check([Message.system("x"), Message.user(parts)], supported)
        return "taken"
      } catch (error) {
        return error instanceof Error ? [error.name, error.message] : error
      }
    })

  const refused = (mediaType: string) => [
    "AI_UnsupportedFunctionalityError",
    `it takes no ${mediaType} at this address: give its bytes`
  ]

  it.effect("are those that the model takes, by media type [P1381]", () =>
    Effect.gen(function* () {
      const png = [Message.image("Image/PNG", { url: "https://A.test/B" })]
      const all = [/^https:\/\/a\.test\/b$/]
      for (const type of ["*", "*/*", "image/*", "IMAGE/*", "image/png", "image/"])
        assert.strictEqual(yield* checked({ [type]: all }, png), "taken", type)
      for (const type of ["audio/*", "image/jpeg", "png"])
        assert.deepStrictEqual(yield* checked({ [type]: all }, png), refused("Image/PNG"), type)
      for (const patterns of [[], [/^http:/], ["https"], "https", [{ test: () => true }]])
        assert.deepStrictEqual(yield* checked({ "*": patterns }, png), refused("Image/PNG"))
      assert.strictEqual(yield* checked({ "image/*": [/no/], "*": [/no/, ...all] }, png), "taken")
      assert.deepStrictEqual(yield* checked({}, png), refused("Image/PNG"))
    })
  )

  it.effect("are checked for each file at an address, and nothing else [P1381]", () =>
    Effect.gen(function* () {
      const others = [Message.text(url), image.bytes, image.id, file.id]
      assert.strictEqual(yield* checked({}, others), "taken")
      assert.deepStrictEqual(yield* checked({ "image/*": [/./] }, [...others, image.url, file.url]), refused("a/b"))
      // what is no list of addresses says nothing
      for (const silent of [undefined, null, "x", [/no/]]) {
        assert.strictEqual(yield* checked(silent, [image.url]), "taken")
        assert.strictEqual(yield* checked(Promise.resolve(silent), [image.url]), "taken")
      }
      assert.deepStrictEqual(yield* checked(Promise.resolve({}), [image.url]), refused("image/png"))
      // the addresses that a model takes are not asked for in vain
      assert.strictEqual(yield* checked({ then: () => assert.fail("it is asked") }, others), "taken")
    })
  )
})
