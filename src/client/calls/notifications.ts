import type { NotificationFilter, NotificationTest, NotificationView } from '../../domain/notification/notification.ts'
import type { NewPush, PushState, PushView } from '../../domain/notification/push.ts'
import type { Page } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** Who is told outside of the page. */
export interface NotificationCalls {
  listNotifications(filter?: NotificationFilter): Promise<Page<NotificationView>>
  /** Sends what was given up once more: one, all, or all of one target. */
  retryNotifications(which: { id?: string | undefined; target?: string | undefined }): Promise<{ retried: string[] }>
  testNotification(target: string): Promise<NotificationTest>
  /** The key that a browser subscribes with, and those browsers of the caller that are told. */
  getPush(): Promise<PushState>
  subscribePush(push: NewPush): Promise<PushView>
  removePush(id: string): Promise<void>
  testPush(id: string): Promise<NotificationTest>
}

export const notificationCalls = ({ get, post, call }: Wire): NotificationCalls => ({
  listNotifications: (filter = {}) => get(`${api}/notifications`, { ...filter }),
  retryNotifications: ({ id, target }) =>
    id === undefined
      ? post(`${api}/notifications/retry`, target === undefined ? {} : { target }, false)
      : post(`${api}/notifications/${encodeURIComponent(id)}/retry`, {}, false),
  testNotification: (target) => post(`${api}/notification-tests`, { target }, false),
  getPush: () => get(`${api}/push`),
  subscribePush: (push) => post(`${api}/push`, push),
  removePush: async (id) => void (await call('DELETE', `${api}/push/${encodeURIComponent(id)}`, { repeatable: false })),
  testPush: (id) => post(`${api}/push/${encodeURIComponent(id)}/test`, {}, false),
})
