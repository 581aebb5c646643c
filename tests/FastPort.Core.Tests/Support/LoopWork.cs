using System.Runtime.CompilerServices;

namespace FastPort.Core.Tests.Support;

/// <summary>Waits for the loops of sessions, so that a test which turns a fake clock sees what its ticks did.</summary>
internal static class LoopWork
{
    // Longer than a busy machine keeps a loop from running: a loop that is not waited for to the end has not done its tick. Each loop that
    // a handler holds up costs it once.
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(3);

    // What a loop that a handler holds up has not done yet: it is not waited for again.
    private static readonly ConditionalWeakTable<Session, ManualResetEventSlim> HeldUp = [];

    /// <summary>Waits until each loop has done what was asked of it before. Not for the present thread's own.</summary>
    public static void Settle(IEnumerable<Session> sessions)
    {
        foreach (Session session in sessions)
        {
            if (session.Connection.IsOnLoop || (HeldUp.TryGetValue(session, out ManualResetEventSlim? before) && !before.IsSet))
            {
                continue;
            }

            // Twice: a callback may run in the middle of the work that was asked for, one that it posts runs after it.
            var done = new ManualResetEventSlim();
            bool posted = session.Connection.Post(
                _ =>
                {
                    if (!session.Connection.Post(_ => done.Set(), null))
                    {
                        done.Set();
                    }
                },
                null);
            if (posted && !done.Wait(Limit) && !session.Connection.IsClosing)
            {
                HeldUp.AddOrUpdate(session, done);
            }
        }
    }
}
