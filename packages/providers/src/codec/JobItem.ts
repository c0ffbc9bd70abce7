/** The provider item of a paused reply. It names the background job that makes the reply. */
import type * as Message from "@kintsugi/core/Message"

const kind = "background_job"

export const make = (provider: string, data: Message.Opaque["data"]): Message.ProviderItem => ({
  type: "provider-item",
  kind,
  opaque: { provider, data }
})

export const is = (part: { readonly type: string }): part is Message.ProviderItem =>
  part.type === "provider-item" && "kind" in part && part.kind === kind
