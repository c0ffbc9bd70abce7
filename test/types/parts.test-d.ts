/** What a tool may say of the images and files in its results. */
import { Message, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

const shot = Tool.make("shot", {
  description: "Takes a picture.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ png: Schema.String }),
  run: () => Effect.succeed({ png: "" })
})

describe("Tool.parts", () => {
  it("reads the result of its tool, in a pipe and as an argument, and leaves its type [P1538]", () => {
    const piped = shot.pipe(Tool.parts(({ png }) => [Message.image("image/png", { data: png })]))
    sameType<typeof shot>()(piped)
    const given = Tool.parts(shot, ({ png }) => [Message.text(png)], { unsupported: "follow", maxBytes: 1000 })
    sameType<typeof shot>()(given)
    const of = ({ png }: { readonly png: string }) => [Message.file("application/pdf", { data: png }, "a.pdf")]
    sameType<typeof shot>()(shot.pipe(Tool.parts(of)))
  })

  it("takes no function of another result, and no other parts [P1538]", () => {
    // @ts-expect-error the result has no jpeg
    shot.pipe(Tool.parts(({ jpeg }) => [Message.image("image/jpeg", { data: jpeg })]))
    const other = Tool.parts((value: number) => [Message.text(String(value))])
    // @ts-expect-error it is for results that are numbers
    shot.pipe(other)
    // @ts-expect-error a part is a text, an image or a file
    shot.pipe(Tool.parts(() => [{ type: "video", url: "" }]))
    // @ts-expect-error there are three ways
    shot.pipe(Tool.parts(() => [], { unsupported: "drop" }))
  })
})
