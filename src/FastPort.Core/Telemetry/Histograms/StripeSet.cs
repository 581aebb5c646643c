using System.Numerics;
using System.Runtime.CompilerServices;

namespace FastPort.Telemetry;

/// <summary>Stripes by processor, each created when its processor first writes.</summary>
internal sealed class StripeSet<T>
    where T : Stripe
{
    /// <summary>Above this number processors share stripes: the contention is rare and costs less than the memory.</summary>
    internal const int MaxStripes = 64;

    private readonly T?[] _stripes;
    private readonly Func<T> _create;

    /// <summary>Creates an empty set.</summary>
    /// <param name="create">Creates one stripe; a stripe may be created and discarded when two threads race for it.</param>
    /// <param name="count">Maximum number of stripes, a power of two; 0 for one per processor.</param>
    internal StripeSet(Func<T> create, int count = 0)
    {
        _create = create;
        _stripes = new T?[count > 0 ? count : DefaultCount];
    }

    /// <summary>One stripe per processor, rounded up to a power of two, at most <see cref="MaxStripes"/>.</summary>
    internal static int DefaultCount { get; } = (int)Math.Min(
        MaxStripes, BitOperations.RoundUpToPowerOf2((uint)Environment.ProcessorCount));

    /// <summary>
    /// The index of the calling thread's stripe. Outdated if the thread moves to another processor, which costs only speed.
    /// </summary>
    internal int Home => _stripes.Length == 1 ? 0 : Thread.GetCurrentProcessorId() & (_stripes.Length - 1);

    /// <summary>Maximum number of stripes.</summary>
    internal int Capacity => _stripes.Length;

    /// <summary>Takes a free stripe, this processor's if possible; the caller releases it with <see cref="Stripe.Exit"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T Enter() => Enter(Home);

    /// <summary>Takes a free stripe, the one with this number if possible.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T Enter(int home)
    {
        var stripe = Volatile.Read(ref _stripes[home]);
        return stripe is not null && stripe.TryEnter() ? stripe : EnterAnother(home);
    }

    /// <summary>The stripe with this number; null if it was never used.</summary>
    internal T? this[int index] => Volatile.Read(ref _stripes[index]);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private T EnterAnother(int home)
    {
        var spin = default(SpinWait);
        while (true)
        {
            // A taken stripe means that its holder was preempted or that this thread has just moved: the next stripe is usually free.
            for (var i = 0; i < _stripes.Length; i++)
            {
                var index = (home + i) & (_stripes.Length - 1);
                var stripe = Volatile.Read(ref _stripes[index]);
                if (stripe is null)
                {
                    var made = _create();
                    stripe = Interlocked.CompareExchange(ref _stripes[index], made, null) ?? made;
                }

                if (stripe.TryEnter())
                {
                    return stripe;
                }
            }

            spin.SpinOnce(sleep1Threshold: -1);
        }
    }
}
