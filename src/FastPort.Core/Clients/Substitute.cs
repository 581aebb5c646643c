using System.Runtime.CompilerServices;

namespace FastPort.Clients;

/// <summary>For the defaults of interfaces that tests substitute.</summary>
internal static class Substitute
{
    /// <summary>A test has called a member that its substitute does not implement.</summary>
    public static NotSupportedException Lacks(string type, [CallerMemberName] string member = "") =>
        new($"This substitute of {type} does not implement {member}. Implement the overload that the test uses.");
}
