using System.Runtime.InteropServices;

namespace FastPort.TestHost.Impaired;

/// <summary>What a server has handled: how often each number of each client, and whether in order. Thread-safe.</summary>
internal sealed class HandledNumbers
{
    private readonly Lock _gate = new();
    private readonly Dictionary<int, List<byte>> _times = [];
    private long _handled;
    private long _disordered;
    private long _wrong;

    /// <summary>Handles a message; its session's state is the number before it.</summary>
    public void Add(Session session, ReadOnlySpan<byte> body)
    {
        bool right = NumberedMessage.TryRead(body, out int client, out int number);
        lock (_gate)
        {
            _handled++;
            if (!right)
            {
                _wrong++;
                return;
            }

            _disordered += session.State is int before && number <= before ? 1 : 0;
            session.State = number;
            if (!_times.TryGetValue(client, out List<byte>? times))
            {
                _times.Add(client, times = []);
            }

            if (times.Count <= number)
            {
                CollectionsMarshal.SetCount(times, number + 1);
            }

            times[number] = (byte)Math.Min(times[number] + 1, byte.MaxValue);
        }
    }

    /// <summary>How often each number of a client was handled, from 0 on.</summary>
    public byte[] Times(int client)
    {
        lock (_gate)
        {
            return _times.TryGetValue(client, out List<byte>? times) ? [.. times] : [];
        }
    }

    public string Figures()
    {
        lock (_gate)
        {
            return $"handled={_handled} disordered={_disordered} wrong={_wrong}";
        }
    }
}
