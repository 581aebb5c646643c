using System.Collections.Concurrent;

namespace IndustrialGateway.Tags;

/// <summary>
/// A simulated plant: measured values that depend on time, and set points that keep the written value. A real gateway has its field bus
/// here. Thread-safe.
/// </summary>
internal sealed class TagStore(TimeProvider time)
{
    private readonly ConcurrentDictionary<string, double> _setPoints = new(StringComparer.Ordinal)
    {
        ["boiler.setpoint"] = 80,
        ["pump.speed"] = 1200,
    };

    public static bool IsMeasured(string name) => name is "boiler.temperature" or "pump.flow";

    public bool TryRead(string name, out double value)
    {
        double seconds = time.GetUtcNow().ToUnixTimeMilliseconds() / 1000.0;
        switch (name)
        {
            case "boiler.temperature":
                value = _setPoints["boiler.setpoint"] + (2 * Math.Sin(seconds));
                return true;
            case "pump.flow":
                value = (_setPoints["pump.speed"] / 100) + (0.5 * Math.Cos(seconds / 3));
                return true;
            default:
                return _setPoints.TryGetValue(name, out value);
        }
    }

    /// <summary>Writes a set point; false if there is none with this name.</summary>
    public bool TryWrite(string name, double value, out double previous)
    {
        while (_setPoints.TryGetValue(name, out previous))
        {
            if (_setPoints.TryUpdate(name, value, previous))
            {
                return true;
            }
        }

        return false;
    }
}
