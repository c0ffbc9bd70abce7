/** The provider item of a paused reply. It names the background job that makes the reply. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"

const kind = "background_job"

export const make = (provider: string, data: Message.Opaque["data"]): Message.ProviderItem => ({
  type: "provider-item",
  kind,
  opaque: { provider, data }
})

export const is = (
  part: Model.Part | Message.Reply["content"][number] | Message.Assistant["content"][number]
): part is Message.ProviderItem => part.type === "provider-item" && part.kind === kind
