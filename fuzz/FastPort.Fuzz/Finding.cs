namespace FastPort.Fuzz;

/// <summary>An input has made the code do what it must not.</summary>
/// <param name="message">What.</param>
internal sealed class Finding(string message) : Exception(message)
{
    /// <summary>Throws unless a condition holds.</summary>
    public static void Unless(bool holds, string message)
    {
        if (!holds)
        {
            throw new Finding(message);
        }
    }
}
