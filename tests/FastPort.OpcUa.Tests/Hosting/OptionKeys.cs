using System.Reflection;
using FastPort.OpcUa.Hosting;
using Microsoft.Extensions.Configuration;
using Xunit;

namespace FastPort.OpcUa.Tests.Hosting;

/// <summary>Compares an options class with what is read of its section.</summary>
internal static class OptionKeys
{
    /// <summary>Sets each option in a configuration and expects it in the options.</summary>
    /// <param name="read">Reads the section.</param>
    /// <param name="codeOnly">Options that only code can set.</param>
    public static void AssertComplete<TOptions>(Action<TOptions, SectionReader> read, string[] codeOnly)
        where TOptions : new()
    {
        PropertyInfo[] properties = [.. typeof(TOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .Where(p => !codeOnly.Contains(p.Name))];
        Assert.NotEmpty(properties);
        foreach (PropertyInfo property in properties)
        {
            (string Key, string Value, object Expected)? given = Example(property.PropertyType, property.GetValue(new TOptions()));
            if (given is not { } example)
            {
                // A part with keys of its own, which has a call of its own.
                Assert.Equal(typeof(OpcUaCertificateOptions), property.PropertyType);
                continue;
            }

            List<string> problems = [];
            var options = new TOptions();
            IConfiguration configuration = Hosts.Create(($"S:{property.Name}{example.Key}", example.Value)).Configuration;
            SectionReader.Visit(configuration.GetSection("S"), problems, section => read(options, section));

            Assert.Empty(problems);
            Assert.Equal(example.Expected, property.GetValue(options));
        }
    }

    private static (string Key, string Value, object Expected)? Example(Type type, object? byDefault) =>
        type == typeof(string) ? (string.Empty, "text", "text")
        : type == typeof(int) ? (string.Empty, "12345", 12345)
        : type == typeof(bool) ? (string.Empty, $"{!(bool)byDefault!}", !(bool)byDefault)
        : type == typeof(TimeSpan) ? (string.Empty, "00:12:34", new TimeSpan(0, 12, 34))
        : type.IsEnum ? (string.Empty, Enum.GetNames(type)[2], Enum.GetValues(type).GetValue(2)!)
        : type == typeof(IList<string>) ? (":0", "text", new List<string> { "text" })
        : type == typeof(IList<OpcUaSecurityPolicy>)
            ? (":0", "Aes256Sha256RsaPss", new List<OpcUaSecurityPolicy> { OpcUaSecurityPolicy.Aes256Sha256RsaPss })
        : type == typeof(IList<MessageSecurityMode>)
            ? (":0", "SignAndEncrypt", new List<MessageSecurityMode> { MessageSecurityMode.SignAndEncrypt })
        : null;
}
