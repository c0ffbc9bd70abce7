/** The answer of an HTTP server as plain data. Codecs and the classification of errors read it; they do no I/O. */
import type * as Duration from "effect/Duration"

/** The answer of an HTTP server. Codecs read it. */
export interface Answer {
  readonly status: number
  /** The headers of the answer. Their names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The whole body as text. It is empty while the body is still streamed. */
  readonly body: string
  /** When the headers of the answer arrived, in milliseconds since the epoch, by Effect's `Clock`. */
  readonly at: number
  /** The time from the start of the attempt until the headers of the answer arrived. */
  readonly elapsed: Duration.Duration
  /** The URL of the request, without its query and without credentials. */
  readonly url?: string
}

/** Whether the status is 200 to 299. */
export const isSuccess = (self: Answer): boolean => self.status >= 200 && self.status < 300

/** The provider's own id of the request, from the headers of the answer; `undefined` if they have none. */
export const requestId = (self: Answer): string | undefined => {
  const ids = [self.headers["x-request-id"], self.headers["request-id"], self.headers["x-amzn-requestid"]]
  return ids.find((id) => id !== undefined && id !== "")
}
