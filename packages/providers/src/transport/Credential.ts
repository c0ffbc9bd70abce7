/** Matches the names of headers and URL parameters that hold credentials, such as `authorization`, `api-key` and `token`. */

const named =
  /authorization|cookie|(?:^|[-_.])(?:(?:access|api|app|auth|client|id|refresh|security|session|user)?(?:token|secret)|(?:auth|session)(?:id)?|pass(?:word|wd|phrase)?|pwd|sig(?:nature)?|credentials?)(?:[-_.]|$)|(?:^|[-_.])(?:access|api|app|auth|secret|subscription)?key$|^code$/i

/** Whether the value of a header or parameter with this name is a credential: `x-api-key`, `accessToken`, `sig`. */
export const isNameOf = (name: string): boolean => named.test(inWords(name))

/** Splits camelCase: `accessToken` becomes `access-Token`. */
export const inWords = (name: string): string => name.replaceAll(/([a-z\d])([A-Z])/g, "$1-$2")
