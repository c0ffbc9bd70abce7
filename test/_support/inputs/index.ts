/** All tables: what the growth test measures, and what the architecture test asks for. */
import { bedrock } from "./bedrock.ts"
import { chained } from "./chained.ts"
import { conversations } from "./conversations.ts"
import { coreCoercion } from "./coreCoercion.ts"
import { coreData } from "./coreData.ts"
import { coreErrors } from "./coreErrors.ts"
import { durable } from "./durable.ts"
import type { Table } from "./entry.ts"
import { interop } from "./interop.ts"
import { limits } from "./limits.ts"
import { interopApi } from "./interopApi.ts"
import { providersCodec } from "./providersCodec.ts"
import { providersClassify, providersTransport } from "./providersTransport.ts"
import { viewServe } from "./serve.ts"
import { viewBrowser } from "./viewBrowser.ts"
import { viewPictures, viewRecording } from "./view.ts"

/** By the folders that they stand for. */
export const tables: Readonly<Record<string, Table>> = {
  "core, data": coreData,
  "core, coercion": coreCoercion,
  "core, errors": coreErrors,
  "providers, transport": providersTransport,
  "providers, classify": providersClassify,
  "providers, codec": providersCodec,
  "providers, Bedrock": bedrock,
  "providers, chained": chained,
  interop,
  "interop, APIs": interopApi,
  "view, recordings and command line": viewRecording,
  "view, pictures and pages": viewPictures,
  durable,
  "durable, conversations": conversations,
  "durable, limits": limits,
  "view, browser": viewBrowser,
  "view, serve": viewServe
}
