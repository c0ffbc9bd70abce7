/**
 * The wire format of Bedrock's Converse and ConverseStream (docs.aws.amazon.com/bedrock/latest/APIReference, looked up on 2026-11-26).
 *
 * Roles alternate, as in Anthropic's Messages. The wire has no choice `none`: no tools are offered for it, unless the transcript has calls,
 * which the provider takes only beside tools. A failed call has the status `error` where the model takes one, and else its text says so.
 * The schema of an output goes into the prompt as text. Cache marks are blocks of their own, `cachePoint`.
 *
 * Converse has no field for reasoning: it goes into `additionalModelRequestFields`, in the words of the model. Those of Claude, Nova and
 * OpenAI are known; `reasoning` for another model is refused, and `extra` takes its own fields. Thoughts go back with their signature;
 * those without one do not. Citations, redacted thoughts and what the provider does itself are `provider-item` parts.
 */
import type { Source } from "../../transport/Source.ts"
import type { Capabilities } from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import { type BedrockParameters, checked, providesTools } from "../Parameters.ts"
import { takesOf } from "./blocks.ts"
import * as ConverseError from "./error.ts"
import * as ConverseReply from "./reply.ts"
import * as ConverseRequest from "./request.ts"
import * as Extra from "../Extra.ts"
import { ConverseDecoder } from "./stream.ts"
import { vendorOf } from "./vendor.ts"

/**
 * What requests to Converse may contain. A URL must be an address of S3.
 *
 * @internal
 */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["required", "named"],
  images: ["data", "url"],
  files: ["data", "url"],
  output: "none",
  toolErrors: "flag",
  reasoning: "demanded",
  promptCache: "breakpoints"
}

/** The codec of one model. A parameter that is not set is not sent. Throws a `RangeError` for invalid parameters. */
export const make = (source: Source, parameters: BedrockParameters = {}, ofModel: Partial<Capabilities> = {}): Codec =>
  Extra.perRequest(
    source,
    ConverseRequest.own,
    (asked) => codecOf(source, asked, { ...capabilities, ...ofModel }),
    parameters
  )

const codecOf = (source: Source, parameters: BedrockParameters, able: Capabilities): Codec => {
  return {
    refuses: ConverseRequest.refusing(source, parameters, able),
    ...(able.images.length === 0 ? {} : { takes: takesOf(vendorOf(source.model)) }),
    bindsThoughts: [],
    providerTools: providesTools(parameters),
    encode: ConverseRequest.make(source, checked(parameters), able),
    decode: (answer) => ConverseReply.decode(source, answer),
    decoder: (answer) => new ConverseDecoder(source, answer),
    classify: (answer) => ConverseError.classify(source, answer)
  }
}
