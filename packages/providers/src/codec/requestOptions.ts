/** Fields that a request adds to its body: its `options`. They come before the fields of the `extra` of its model. */
import type * as Schema from "effect/Schema"
import type { Codec } from "./Codec.ts"

interface Extended {
  readonly extra?: Readonly<Record<string, Schema.Json>> | undefined
}

/** A codec whose requests may have fields of their own. What a codec caches of a transcript lasts while the options are the same. */
export const perRequest = <P extends Extended>(make: (parameters: P) => Codec, parameters: P): Codec => {
  const usual = make(parameters)
  let last: { readonly key: string; readonly codec: Codec } | undefined
  return {
    ...usual,
    encode: (request, mode) => {
      const { options } = request
      if (options === undefined) return usual.encode(request, mode)
      const key = JSON.stringify(options)
      if (last?.key !== key) {
        last = { key, codec: make({ ...parameters, extra: { ...parameters.extra, ...options } }) }
      }
      return last.codec.encode(request, mode)
    }
  }
}
