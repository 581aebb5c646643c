using System.Diagnostics.CodeAnalysis;

namespace FastPort.Sessions.Requests;

/// <summary>
/// A pool of instances. Each thread keeps a few; the others are shared, because one thread may rent what other threads return. Thread-safe.
/// </summary>
[SuppressMessage("Design", "CA1000:Do not declare static members on generic types", Justification = "Internal: one set per type.")]
internal static class Spares<T>
    where T : class
{
    private const int OfThread = 32;
    private const int Shared = 1024;

    [ThreadStatic]
    private static T[]? _own;

    [ThreadStatic]
    private static int _count;

    private static readonly Lock Gate = new();
    private static readonly Stack<T> Rest = new();

    /// <summary>An instance that was returned; null if there is none.</summary>
    public static T? TryRent()
    {
        if (_count == 0 && !TryRefill())
        {
            return null;
        }

        T instance = _own![--_count];
        _own[_count] = null!;
        return instance;
    }

    /// <summary>Takes the instance, which the caller no longer uses.</summary>
    public static void Return(T instance)
    {
        _own ??= new T[OfThread];
        if (_count == OfThread)
        {
            Spill();
        }

        _own[_count++] = instance;
    }

    private static bool TryRefill()
    {
        lock (Gate)
        {
            while (_count < OfThread / 2 && Rest.TryPop(out T? instance))
            {
                (_own ??= new T[OfThread])[_count++] = instance;
            }
        }

        return _count != 0;
    }

    private static void Spill()
    {
        lock (Gate)
        {
            while (_count > OfThread / 2)
            {
                T instance = _own![--_count];
                _own[_count] = null!;
                if (Rest.Count < Shared)
                {
                    Rest.Push(instance);
                }
            }
        }
    }
}
