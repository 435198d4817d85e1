import { useEffect } from 'react'

/** Where a browser that is told keeps that it is. What else there is to it is loaded by those alone. */
export const pushPlace = 'pawl-push'

/** A browser that is told hears on after a new sign-in. */
export function useRenewedPush(): void {
  useEffect(() => {
    if (localStorage.getItem(pushPlace) === null) return
    void import('../../data/push.ts').then(({ renewPush }) => renewPush()).catch((error: unknown) => console.warn(error))
  }, [])
}
