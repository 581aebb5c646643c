using System.Buffers;
using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

/// <summary>
/// A pool that proves how its arrays are used: counts rents and returns, throws on a second return and on an array that is not its own,
/// fills returned arrays with a pattern and finds writes to them. Never hands out the same array twice. Thread-safe.
/// </summary>
/// <remarks>
/// <see cref="AssertAllReturned"/> also reports misuse whose exception was swallowed by the code under test. The latest returned arrays are
/// kept in quarantine (up to <see cref="QuarantineBytes"/>), where a late write is found.
/// </remarks>
internal sealed class TrackingArrayPool : ArrayPool<byte>
{
    public const byte RentedPattern = 0xA7;
    public const byte ReturnedPattern = 0xDE;
    public const int QuarantineBytes = 1024 * 1024;

    // Guards all fields below.
    private readonly Lock _lock = new();
    private readonly HashSet<byte[]> _outstanding = new(ReferenceEqualityComparer.Instance);
    private readonly ConditionalWeakTable<byte[], object> _returnedBefore = [];
    private readonly Queue<byte[]> _quarantine = new();
    private readonly List<string> _misuses = [];
    private readonly int _surplus;
    private long _quarantinedBytes;
    private long _rents;
    private long _returns;
    private long _outstandingBytes;
    private long _peakOutstandingBytes;
    private bool _failsToRent;
    private Thread? _refused;

    /// <param name="surplus">Bytes by which every array is longer than asked for, as a real pool's may be.</param>
    public TrackingArrayPool(int surplus = 0) => _surplus = surplus;

    public long Rents => Read(ref _rents);

    public long Returns => Read(ref _returns);

    /// <summary>Bytes of the arrays rented and not returned.</summary>
    public long OutstandingBytes => Read(ref _outstandingBytes);

    public long PeakOutstandingBytes => Read(ref _peakOutstandingBytes);

    /// <summary>Arrays rented and not returned.</summary>
    public int Outstanding
    {
        get
        {
            lock (_lock)
            {
                return _outstanding.Count;
            }
        }
    }

    /// <summary>Makes every further rent throw <see cref="RentRefusedException"/>.</summary>
    public void FailRents(bool fail = true)
    {
        lock (_lock)
        {
            _failsToRent = fail;
        }
    }

    /// <summary>Calls it while every rent of the calling thread throws <see cref="RentRefusedException"/>, and no other's.</summary>
    public void FailRentsWithin(Action act)
    {
        Refuse(Thread.CurrentThread);
        try
        {
            act();
        }
        finally
        {
            Refuse(null);
        }
    }

    private void Refuse(Thread? thread)
    {
        lock (_lock)
        {
            _refused = thread;
        }
    }

    public override byte[] Rent(int minimumLength)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(minimumLength);
        lock (_lock)
        {
            if (_failsToRent || ReferenceEquals(_refused, Thread.CurrentThread))
            {
                throw new RentRefusedException("This pool was told to fail.");
            }

            // An array of length 0 would be a singleton of the runtime and could not be told from others.
            byte[] array = new byte[Math.Max(1, minimumLength + _surplus)];
            array.AsSpan().Fill(RentedPattern);
            _outstanding.Add(array);
            _rents++;
            _outstandingBytes += array.Length;
            _peakOutstandingBytes = Math.Max(_peakOutstandingBytes, _outstandingBytes);
            return array;
        }
    }

    public override void Return(byte[] array, bool clearArray = false)
    {
        ArgumentNullException.ThrowIfNull(array);
        lock (_lock)
        {
            if (!_outstanding.Remove(array))
            {
                string misuse = _returnedBefore.TryGetValue(array, out _)
                    ? $"An array of {array.Length} bytes was returned a second time."
                    : $"An array of {array.Length} bytes was returned that this pool never rented out.";
                _misuses.Add(misuse);
                throw new InvalidOperationException(misuse);
            }

            _returns++;
            _outstandingBytes -= array.Length;
            _returnedBefore.Add(array, array);
            array.AsSpan().Fill(ReturnedPattern);
            _quarantine.Enqueue(array);
            _quarantinedBytes += array.Length;
            while (_quarantinedBytes > QuarantineBytes)
            {
                LeaveQuarantine(_quarantine.Dequeue());
            }
        }
    }

    /// <summary>Fails unless every rented array was returned exactly once and none was written to afterwards.</summary>
    public void AssertAllReturned()
    {
        lock (_lock)
        {
            while (_quarantine.TryDequeue(out byte[]? array))
            {
                LeaveQuarantine(array);
            }

            Assert.Empty(_misuses);
            Assert.True(_outstanding.Count == 0, $"{_outstanding.Count} arrays with {_outstandingBytes} bytes were never returned.");
            Assert.Equal(_rents, _returns);
        }
    }

    private void LeaveQuarantine(byte[] array)
    {
        _quarantinedBytes -= array.Length;
        int index = array.AsSpan().IndexOfAnyExcept(ReturnedPattern);
        if (index >= 0)
        {
            _misuses.Add($"An array of {array.Length} bytes was written to at index {index} after it was returned.");
        }
    }

    private long Read(ref long field)
    {
        lock (_lock)
        {
            return field;
        }
    }
}

/// <summary>What a pool told to fail throws, in place of the <see cref="OutOfMemoryException"/> that code may not throw itself.</summary>
internal sealed class RentRefusedException(string message) : Exception(message);
