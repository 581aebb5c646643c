using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.Telemetry;

/// <summary>The part of a striped structure that one processor writes, guarded by a flag that is rarely contended.</summary>
/// <remarks>
/// A <see cref="Lock"/> would be correct but costs three times as much per record, and its blocking is not needed: a writer that finds the
/// flag taken uses another stripe (<see cref="StripeSet{T}"/>), and a reader holds the flag only to exchange a reference.
/// </remarks>
internal abstract class Stripe
{
    private LoneFlag _flag;

    /// <summary>Takes the stripe if it is free.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryEnter() => Volatile.Read(ref _flag.Held) == 0 && Interlocked.Exchange(ref _flag.Held, 1) == 0;

    /// <summary>Takes the stripe; spins for the few nanoseconds that a record takes.</summary>
    internal void Enter()
    {
        var spin = default(SpinWait);
        while (!TryEnter())
        {
            // Yields to a preempted holder, but never sleeps for a millisecond.
            spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    /// <summary>Releases the stripe and publishes the writes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Exit() => Volatile.Write(ref _flag.Held, 0);

    // Alone on its cache line: adjacent objects on the heap may belong to another processor's stripe.
    [StructLayout(LayoutKind.Explicit, Size = 128)]
    private struct LoneFlag
    {
        [FieldOffset(64)]
        internal int Held;
    }
}
