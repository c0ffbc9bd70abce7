/** What a reply says about itself is optional, and text. */
import { Message, type Model, Usage } from "@kintsugi/core"
import type * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import type * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

type Fact = "model" | "responseId" | "requestId" | "rawFinish" | "serviceTier"
type End = Extract<Model.Part, { readonly type: "finish" }>
type Sources = Extract<UiMessageStream.Chunk, { readonly type: "source-url" }>

const usage = Usage.empty

describe("the facts of a reply", () => {
  it("are the same of a reply and of the last part of a stream [P1407]", () => {
    type _ = [
      Expect<Equal<Pick<Message.Reply, Fact>, { readonly [Name in Fact]?: string }>>,
      Expect<Equal<Pick<End, Fact>, Pick<Message.Reply, Fact>>>,
      Expect<Equal<Sources["url"], string>>
    ]
    const bare: Message.Reply = { content: [], finish: "stop", usage }
    const full: Message.Reply = { ...bare, responseId: "r", requestId: "q", rawFinish: "end", serviceTier: "flex" }
    // @ts-expect-error an id is text
    const numbered: Message.Reply = { ...bare, responseId: 1 }
    // @ts-expect-error what a provider does not tell is absent, not undefined
    const untold: Message.Reply = { ...bare, requestId: undefined }
    void [full, numbered, untold]
  })
})

describe("the capabilities of a dialect", () => {
  it("name ids of files and formats of audio [P1408]", () => {
    type Able = NonNullable<OpenAiChat.Dialect["capabilities"]>
    type _ = [
      Expect<Equal<Able["files"][number], "data" | "url" | "id">>,
      Expect<Equal<Able["audio"], ReadonlyArray<string> | undefined>>
    ]
    const file = Message.file("audio/wav", { data: "AQID" })
    // @ts-expect-error an attachment has bytes or an address; the id of a file stands for an address
    const named = Message.file("application/pdf", { id: "file-abc" })
    void [file, named]
  })
})
